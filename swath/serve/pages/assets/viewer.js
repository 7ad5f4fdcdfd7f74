// A picture that is moved and zoomed, with two layers of masks over it that a line parts, and outlines of objects.
// Everything is in picture pixels: those of the image as it is shown, not those of the screen.

const UNITS = 4; // outlines are in quarters of a picture pixel
const CLOSEST = 48; // screen pixels per picture pixel
const SMALL = 10; // screen pixels: below this an object is drawn as its box, which looks the same and is five times as fast
const MANY = 2500; // objects in sight from which on outlines have no dark edge, which would take as long again
const COLOURS = { counted: "#ffa500", dropped: "#f0f0f0", casing: "#141414", chosen: "#ff2d95", hovered: "#ffffff" };

const between = (low, value, high) => Math.min(Math.max(value, low), high);

export class Viewer {
  // root: an element as templates/viewer.html.jinja makes it; layers: [{name, src}].
  // onPick(index or null) and onHover(index or null) tell which object the pointer is on.
  constructor(root, layers = []) {
    const find = (selector) => root.querySelector(selector);
    this.root = root;
    this.frame = find(".viewer-frame");
    this.stage = find(".viewer-stage");
    this.marks = find(".viewer-marks");
    this.pointed = find(".viewer-pointed");
    this.line = find(".viewer-line");
    this.said = find(".viewer-said");
    this.controls = Object.fromEntries(["opacity", "swipe", "outlines"].map((role) => [role, find(`[data-role="${role}"]`)]));
    this.choices = { left: find('[data-side="left"]'), right: find('[data-side="right"]') };
    this.width = Number(this.frame.dataset.width);
    this.height = Number(this.frame.dataset.height);
    this.layers = layers;
    this.images = {};
    this.objects = null;
    this.visible = null;
    this.chosen = null;
    this.hovered = null;
    this.onPick = () => {};
    this.onHover = () => {};
    this.pointers = new Map();
    this.#start();
  }

  get swipe() { return Number(this.controls.swipe.value) / 100; }

  // Objects: columns `box` [x0, y0, x1, y1], `path` and `counted`; visible: which rows are drawn, null for all.
  setObjects(objects) {
    this.objects = objects;
    this.paths = new Array(objects.box.length);
    this.setVisible(null);
  }

  setVisible(rows) {
    this.visible = rows;
    this.draw();
  }

  // Shows a layer (null for none) on the left or the right of the line.
  setLayer(side, index) {
    const choice = this.choices[side];
    choice.value = index === null ? "" : String(index);
    let image = this.images[side];
    if (!image) {
      image = this.images[side] = document.createElement("img");
      image.className = "viewer-layer";
      image.alt = "";
      this.stage.append(image);
    }
    image.hidden = choice.value === "";
    if (!image.hidden) image.src = this.layers[Number(choice.value)].src;
    if (side === "right" && index !== null && this.swipe >= 1) this.setSwipe(0.5);
    this.draw();
  }

  setOpacity(share) { this.controls.opacity.value = String(Math.round(share * 100)); this.draw(); }

  setSwipe(share) { this.controls.swipe.value = String(Math.round(between(0, share, 1) * 100)); this.draw(); }

  choose(index) {
    this.chosen = index;
    this.#point();
  }

  hover(index) {
    if (this.hovered === index) return;
    this.hovered = index;
    this.#point();
  }

  say(text) { this.said.textContent = text; }

  // Shows an object, or any box, close but with what is around it.
  show(index) { this.showBox(this.objects.box[index]); }

  showBox(box) {
    if (!box) return;
    const [x0, y0, x1, y1] = box;
    const room = Math.max(x1 - x0, y1 - y0, 12) * 3;
    this.scale = between(this.fit, Math.min(this.frame.clientWidth, this.frame.clientHeight) / room, CLOSEST);
    this.x = this.frame.clientWidth / 2 - (this.scale * (x0 + x1)) / 2;
    this.y = this.frame.clientHeight / 2 - (this.scale * (y0 + y1)) / 2;
    this.#moved();
  }

  showAll() {
    this.scale = this.fit;
    this.#moved();
  }

  // Where a point of the screen lies on the picture.
  place(clientX, clientY) {
    const frame = this.frame.getBoundingClientRect();
    return [(clientX - frame.left - this.x) / this.scale, (clientY - frame.top - this.y) / this.scale];
  }

  // The object at a place of the picture: of several the smallest, null for none.
  at(x, y) {
    if (!this.objects) return null;
    const slack = 4 / this.scale;
    let found = null, least = Infinity;
    const { box, counted } = this.objects;
    const rows = this.visible ?? box.keys();
    for (const row of rows) {
      const own = box[row];
      if (!own || x < own[0] - slack || x > own[2] + slack || y < own[1] - slack || y > own[3] + slack) continue;
      const inside = this.#holds(row, x, y);
      const size = (own[2] - own[0]) * (own[3] - own[1]) * (inside ? 1 : 1e6) * (counted[row] ? 1 : 1.001);
      if (size < least) [found, least] = [row, size];
    }
    return found;
  }

  draw() {
    if (!this.drawing) this.drawing = requestAnimationFrame(() => { this.drawing = 0; this.#paint(); });
  }

  #start() {
    this.frame.classList.add("viewer-live");
    for (const choice of Object.values(this.choices)) {
      for (const [index, layer] of this.layers.entries()) choice.append(new Option(layer.name, index));
    }
    for (const [side, choice] of Object.entries(this.choices)) {
      choice.addEventListener("change", () => this.setLayer(side, choice.value === "" ? null : Number(choice.value)));
    }
    for (const control of Object.values(this.controls)) control.addEventListener("input", () => this.draw());
    const steps = { in: 1.6, out: 1 / 1.6 };
    for (const button of this.root.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => (button.dataset.zoom === "all" ? this.showAll() : this.#zoom(steps[button.dataset.zoom])));
    }
    this.frame.addEventListener("keydown", (event) => this.#key(event));
    this.frame.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.frame.addEventListener("pointerdown", (event) => this.#down(event));
    this.frame.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) this.frame.addEventListener(name, (event) => this.#up(event));
    this.frame.addEventListener("pointerleave", () => this.#hovering(null));
    this.#resize();
    new ResizeObserver(() => this.#resize()).observe(this.frame);
  }

  #resize() {
    const wide = this.frame.clientWidth;
    const tall = Math.round(between(224, (wide * this.height) / this.width, window.innerHeight * 0.78));
    this.frame.style.height = `${tall}px`;
    const before = this.fit;
    this.fit = Math.min(wide / this.width, tall / this.height);
    if (!(this.scale > 0) || Math.abs(this.scale - before) < 1e-9) this.scale = this.fit;
    const dense = window.devicePixelRatio || 1;
    for (const canvas of [this.marks, this.pointed]) {
      canvas.width = Math.round(wide * dense);
      canvas.height = Math.round(tall * dense);
    }
    this.#moved();
  }

  #moved() {
    this.scale = between(this.fit, this.scale, Math.max(CLOSEST, this.fit));
    const hold = (start, size, room) => {
      const long = size * this.scale;
      return long <= room ? (room - long) / 2 : between(room - long, start, 0);
    };
    this.x = hold(this.x ?? 0, this.width, this.frame.clientWidth);
    this.y = hold(this.y ?? 0, this.height, this.frame.clientHeight);
    this.frame.classList.toggle("zoomed", this.scale > this.fit * 1.001);
    this.frame.classList.toggle("sharp", this.scale >= 2);
    this.draw();
  }

  #zoom(factor, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2) {
    const scale = between(this.fit, this.scale * factor, Math.max(CLOSEST, this.fit));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.#moved();
  }

  #pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.#moved();
  }

  #key(event) {
    if (event.target !== this.frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60;
    const actions = {
      ArrowLeft: () => this.#pan(step, 0), ArrowRight: () => this.#pan(-step, 0),
      ArrowUp: () => this.#pan(0, step), ArrowDown: () => this.#pan(0, -step),
      "+": () => this.#zoom(1.6), "=": () => this.#zoom(1.6), "-": () => this.#zoom(1 / 1.6), 0: () => this.showAll(),
      ",": () => this.setSwipe(this.swipe - 0.05), ".": () => this.setSwipe(this.swipe + 0.05),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // A page is scrolled by the wheel unless the picture was chosen first.
  #wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.frame) return;
    event.preventDefault();
    const frame = this.frame.getBoundingClientRect();
    this.#zoom(Math.exp(-between(-60, event.deltaY, 60) * 0.006), event.clientX - frame.left, event.clientY - frame.top);
  }

  #down(event) {
    if (event.target.closest("button") || event.button > 0) return;
    this.swiping = event.target === this.line;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.pressed = this.pointers.size === 1 ? [event.clientX, event.clientY] : null;
    this.frame.setPointerCapture(event.pointerId);
    if (event.pointerType !== "touch") this.frame.focus({ preventScroll: true });
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse" && !event.target.closest("button")) this.#hovering(this.at(...this.place(event.clientX, event.clientY)));
      return;
    }
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const now = [event.clientX, event.clientY];
    this.pointers.set(event.pointerId, now);
    const frame = this.frame.getBoundingClientRect();
    if (this.swiping) {
      this.setSwipe((now[0] - frame.left) / frame.width);
    } else if (others.length) {
      const away = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]);
      this.#zoom(away(now) / Math.max(away(before), 1), (now[0] + others[0][0]) / 2 - frame.left, (now[1] + others[0][1]) / 2 - frame.top);
    } else {
      this.frame.classList.add("moving");
      this.#pan(now[0] - before[0], now[1] - before[1]);
    }
  }

  #up(event) {
    const still = this.pressed && Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]) < 5;
    this.pointers.delete(event.pointerId);
    this.frame.classList.remove("moving");
    if (event.type === "pointerup" && still && !this.swiping) this.onPick(this.at(...this.place(event.clientX, event.clientY)));
    this.swiping = false;
    this.pressed = null;
  }

  #hovering(index) {
    if (this.hovered === index) return;
    this.hover(index);
    this.onHover(index);
  }

  #path(row) {
    if (!this.paths[row]) {
      const box = this.objects.box[row] ?? [0, 0, 0, 0];
      const path = new Path2D(this.objects.path[row] || undefined);
      if (!this.objects.path[row]) path.rect(...[box[0], box[1], box[2] - box[0], box[3] - box[1]].map((length) => length * UNITS));
      this.paths[row] = path;
    }
    return this.paths[row];
  }

  #holds(row, x, y) {
    const context = this.marks.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    return context.isPointInPath(this.#path(row), x * UNITS, y * UNITS, "evenodd");
  }

  #paint() {
    const { stage, frame, line } = this;
    stage.style.width = `${this.width}px`;
    stage.style.height = `${this.height}px`;
    stage.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    const at = this.swipe * frame.clientWidth;
    const cut = between(0, (at - this.x) / this.scale, this.width);
    const { left, right } = this.images;
    const opacity = String(Number(this.controls.opacity.value) / 100);
    if (left) left.style.clipPath = `inset(0 ${this.width - cut}px 0 0)`;
    if (right) right.style.clipPath = `inset(0 0 0 ${cut}px)`;
    for (const image of [left, right]) if (image) image.style.opacity = opacity;
    line.hidden = this.swipe >= 1 || this.swipe <= 0;
    line.style.left = `${at}px`;
    this.#paintMarks();
    this.#paintPointed();
  }

  #point() {
    if (!this.pointing) this.pointing = requestAnimationFrame(() => { this.pointing = 0; this.#paintPointed(); });
  }

  // A cleared canvas whose unit is a quarter of a picture pixel, with a pen whose width is in screen pixels.
  #pen(canvas) {
    const context = canvas.getContext("2d");
    const dense = window.devicePixelRatio || 1;
    const scale = this.scale / UNITS;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale * dense, 0, 0, scale * dense, this.x * dense, this.y * dense);
    context.lineJoin = "round";
    return { context, ink: (colour, pixels) => { context.strokeStyle = colour; context.lineWidth = pixels / scale; } };
  }

  // Rows whose boxes lie in the frame, those dropped apart from those counted.
  #inSight() {
    const [x0, y0] = [-this.x / this.scale, -this.y / this.scale];
    const [x1, y1] = [x0 + this.frame.clientWidth / this.scale, y0 + this.frame.clientHeight / this.scale];
    const found = { counted: [], dropped: [] };
    for (const row of this.visible ?? this.objects.box.keys()) {
      const box = this.objects.box[row];
      if (box && box[2] >= x0 && box[0] <= x1 && box[3] >= y0 && box[1] <= y1) found[this.objects.counted[row] ? "counted" : "dropped"].push(row);
    }
    return found;
  }

  #paintMarks() {
    const { context, ink } = this.#pen(this.marks);
    if (!this.objects || !this.controls.outlines.checked) return;
    const { counted, dropped } = this.#inSight();
    const stroke = (row) => {
      const box = this.objects.box[row];
      const [wide, tall] = [box[2] - box[0], box[3] - box[1]];
      if (Math.max(wide, tall) * this.scale < SMALL) context.strokeRect(box[0] * UNITS, box[1] * UNITS, wide * UNITS, tall * UNITS);
      else context.stroke(this.#path(row));
    };
    const edged = counted.length + dropped.length < MANY;
    for (const [rows, colour, pixels] of [[dropped, COLOURS.dropped, 0.9], [counted, COLOURS.counted, 1.8]]) {
      if (edged) {
        ink(COLOURS.casing, pixels + 1.3);
        rows.forEach(stroke);
      }
      ink(colour, pixels);
      rows.forEach(stroke);
    }
  }

  // The chosen object and the one that is pointed at; a small one gets a ring around it, so that the eye finds it.
  #paintPointed() {
    const { context, ink } = this.#pen(this.pointed);
    for (const [row, colour] of [[this.hovered, COLOURS.hovered], [this.chosen, COLOURS.chosen]]) {
      const box = row === null || !this.objects ? null : this.objects.box[row];
      if (!box) continue;
      const paths = [this.#path(row)];
      if (Math.max(box[2] - box[0], box[3] - box[1]) * this.scale <= 28) {
        const ring = new Path2D();
        ring.arc(((box[0] + box[2]) / 2) * UNITS, ((box[1] + box[3]) / 2) * UNITS, (14 / this.scale) * UNITS, 0, 2 * Math.PI);
        paths.push(ring);
      }
      for (const [paint, pixels] of [[COLOURS.casing, 5.5], [colour, 3]]) {
        ink(paint, pixels);
        for (const path of paths) context.stroke(path);
      }
    }
  }
}
