// A table of any length: only the rows in sight are elements. Sorts, filters, and is worked by the arrow keys.

const ROW = 34; // pixels, as in viewer.css
const BEYOND = 8; // rows kept above and below those in sight
export const whole = new Intl.NumberFormat("en");
export const measured = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
const order = new Intl.Collator("en", { numeric: true });

export class Table {
  // root: an element with the role grid. columns: [{name, label, width, figure, shown(row)}]; data: name to values.
  // onChoose(row, close), onHover(row or null), onRows(rows) tell of the row chosen, pointed at, and of those that are left.
  constructor(root, columns, data) {
    this.root = root;
    this.columns = columns;
    this.data = data;
    this.size = data[columns[0].name].length;
    this.rows = Array.from({ length: this.size }, (_, row) => row);
    this.all = this.rows;
    this.chosen = null;
    this.sorted = null;
    this.onChoose = () => {};
    this.onHover = () => {};
    this.onRows = () => {};
    this.elements = new Map();
    this.#build();
  }

  // Keeps the rows for which fits(row) is true.
  filter(fits) {
    this.rows = this.all.filter(fits);
    this.#changed();
    this.onRows(this.rows);
  }

  sort(name, down) {
    const ranks = this.#ranks(name);
    const none = (row) => ranks[row] === null;
    this.sorted = { name, down };
    // What has no value comes last, whichever way the rest goes.
    const compare = (a, b) => none(a) - none(b) || (none(a) ? 0 : down ? ranks[b] - ranks[a] : ranks[a] - ranks[b]) || a - b;
    const kept = new Set(this.rows);
    this.all = [...this.all].sort(compare);
    this.rows = this.all.filter((row) => kept.has(row));
    for (const head of this.heads) {
      if (head.dataset.name === name) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    this.#changed();
  }

  // Marks a row and brings it into sight.
  choose(row) {
    this.chosen = row;
    const at = this.rows.indexOf(row);
    if (at >= 0) {
      const top = at * ROW, head = ROW;
      const { scrollTop, clientHeight } = this.root;
      if (top < scrollTop) this.root.scrollTop = top;
      else if (top + ROW + head > scrollTop + clientHeight) this.root.scrollTop = top + ROW + head - clientHeight;
    }
    this.#paint();
  }

  hover(row) {
    for (const [own, element] of this.elements) element.classList.toggle("hovered", own === row);
  }

  #build() {
    const columns = this.columns.map((column) => column.width).join(" ");
    this.root.style.setProperty("--columns", columns);
    this.root.setAttribute("aria-colcount", String(this.columns.length));
    this.head = document.createElement("div");
    this.head.className = "grid-head";
    this.head.setAttribute("role", "rowgroup");
    const row = this.#element("grid-row", "row");
    this.heads = this.columns.map((column) => {
      const head = this.#element(column.figure ? "grid-cell figure" : "grid-cell", "columnheader");
      head.dataset.name = column.name;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.label;
      button.addEventListener("click", () => this.sort(column.name, this.sorted?.name === column.name && !this.sorted.down));
      head.append(button);
      return head;
    });
    row.append(...this.heads);
    row.setAttribute("aria-rowindex", "1");
    this.head.append(row);
    this.body = this.#element("grid-body", "rowgroup");
    this.root.replaceChildren(this.head, this.body);
    this.root.addEventListener("scroll", () => this.#paint(), { passive: true });
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.body.addEventListener("click", (event) => this.#clicked(event));
    this.body.addEventListener("dblclick", (event) => this.#clicked(event, true));
    this.body.addEventListener("pointerover", (event) => this.onHover(this.#row(event)));
    this.body.addEventListener("pointerleave", () => this.onHover(null));
    new ResizeObserver(() => this.#paint()).observe(this.root);
    this.#changed();
  }

  #element(name, role) {
    const element = document.createElement("div");
    element.className = name;
    element.setAttribute("role", role);
    return element;
  }

  // A number for each row to sort by; texts by their place among all texts of the column, worked out once.
  #ranks(name) {
    this.known ??= {};
    if (!this.known[name]) {
      const values = this.data[name];
      const texts = values.some((value) => typeof value === "string");
      const place = texts ? new Map([...new Set(values)].sort(order.compare).map((value, rank) => [value, rank])) : null;
      this.known[name] = values.map((value) => (value === null ? null : texts ? place.get(value) : Number(value)));
    }
    return this.known[name];
  }

  #row(event) {
    const element = event.target.closest(".grid-row");
    return element ? Number(element.dataset.row) : null;
  }

  #clicked(event, close = false) {
    const row = this.#row(event);
    if (row !== null) this.#take(row, close);
  }

  #take(row, close) {
    this.choose(row);
    this.onChoose(row, close);
  }

  #key(event) {
    if (event.target !== this.root || event.ctrlKey || event.metaKey || event.altKey || !this.rows.length) return;
    const page = Math.max(1, Math.floor(this.root.clientHeight / ROW) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const at = this.rows.indexOf(this.chosen);
    if (event.key in steps) {
      event.preventDefault();
      const next = at < 0 ? (event.key === "End" ? Infinity : 0) : at + steps[event.key];
      this.#take(this.rows[Math.min(Math.max(next, 0), this.rows.length - 1)], false);
    } else if (event.key === "Enter" && at >= 0) {
      event.preventDefault();
      this.#take(this.chosen, true);
    }
  }

  #changed() {
    this.root.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.body.style.height = `${this.rows.length * ROW}px`;
    this.elements.clear();
    this.body.replaceChildren();
    this.#paint();
  }

  #paint() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((this.root.scrollTop + this.root.clientHeight) / ROW) + BEYOND);
    const wanted = new Map();
    for (let at = first; at < last; at += 1) wanted.set(this.rows[at], at);
    for (const [row, element] of this.elements) {
      if (!wanted.has(row)) {
        element.remove();
        this.elements.delete(row);
      }
    }
    let before = null;
    for (const [row, at] of wanted) {
      if (!this.elements.has(row)) this.elements.set(row, this.#made(row, at));
      const element = this.elements.get(row);
      // In the order of the rows, so that a screen reader reads them in it.
      const next = before ? before.nextSibling : this.body.firstChild;
      if (element !== next) this.body.insertBefore(element, next);
      before = element;
      element.classList.toggle("chosen", row === this.chosen);
      element.setAttribute("aria-selected", String(row === this.chosen));
    }
    const active = this.elements.get(this.chosen);
    if (active) this.root.setAttribute("aria-activedescendant", active.id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  #made(row, at) {
    const element = this.#element("grid-row", "row");
    element.id = `${this.root.id}-${row}`;
    element.dataset.row = String(row);
    element.setAttribute("aria-rowindex", String(at + 2));
    element.style.transform = `translateY(${at * ROW}px)`;
    if (this.data.counted) element.classList.toggle("dropped", !this.data.counted[row]);
    for (const column of this.columns) {
      const cell = this.#element(column.figure ? "grid-cell figure" : "grid-cell", "gridcell");
      cell.textContent = column.shown(row);
      if (!column.figure) {
        cell.title = cell.textContent;
        cell.dir = "auto";
      }
      element.append(cell);
    }
    return element;
  }
}

// The columns of objects: id, class, measures that any of them has, and why each was kept or dropped.
export function objectColumns(objects) {
  // Every row is a grid of its own, so that a column is as wide as its longest text from the start.
  const letters = (name) => objects[name].reduce((most, text) => Math.max(most, text === null ? 0 : text.length), 0);
  const wide = (name, least, most) => Math.min(Math.max(letters(name) * 0.5 + 1.75, least), most);
  const measure = (name) => (row) => (objects[name][row] === null ? "" : measured.format(objects[name][row]));
  const measures = [
    ["area_m2", "Area, m²", "8rem"], ["area_px", "Pixels", "6.5rem"], ["height_m", "Height, m", "7rem"], ["score", "Score", "6rem"],
  ].filter(([name]) => objects[name].some((value) => value !== null));
  return [
    { name: "id", label: "Id", width: `${wide("id", 3.5, 10)}rem`, shown: (row) => objects.id[row] },
    { name: "class", label: "Class", width: `${wide("class", 5.5, 12)}rem`, shown: (row) => objects.class[row] },
    ...(objects.colour.some((value) => value !== null) ? [{ name: "colour", label: "Colour", width: "6rem", shown: (row) => objects.colour[row] ?? "" }] : []),
    ...measures.map(([name, label, width]) => ({ name, label, width, figure: true, shown: measure(name) })),
    { name: "why", label: "Kept or dropped, and why", width: `minmax(${wide("why", 12, 40)}rem, 1fr)`, shown: (row) => objects.why[row] },
  ];
}

// A test for rows from what a person typed: words in id, class and reason, kind, least and greatest area.
export function objectFilter(objects) {
  const texts = objects.id.map((id, row) => `${id} ${objects.class[row]} ${objects.why[row]}`.toLowerCase());
  const areas = objects.area_m2.some((value) => value !== null) ? objects.area_m2 : objects.area_px;
  return ({ text = "", kind = "", from = null, to = null }) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) =>
      (kind === "" || objects.counted[row] === (kind === "counted"))
      && (from === null || (areas[row] !== null && areas[row] >= from))
      && (to === null || (areas[row] !== null && areas[row] <= to))
      && words.every((word) => texts[row].includes(word));
  };
}
