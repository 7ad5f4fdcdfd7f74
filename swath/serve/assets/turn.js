// One question with what comes of it: steps as they happen, then the answer, its objects, its program, its files.

import { get, listen, post } from "./api.js";
import { el, secondsWords } from "./dom.js";
import { Table } from "./pages/table.js";

const STEP_WORDS = {
  read: "Open the image", plan: "Write a program", check: "Check it", run: "Run it", verify: "Verify the answer", answer: "Answer",
};
const LONGEST_VALUE = 28;
const FILES = [
  ["objects.gpkg", "GeoPackage"], ["objects.geojson", "GeoJSON"], ["objects.csv", "CSV"], ["overlay.png", "PNG"], ["answer.tif", "GeoTIFF"], ["run.zip", "Whole run (zip)"],
];

export class Turn {
  // desk: { showObjects(turn), found(turn), choose(row, show), rerun(program), earlier() } of the page.
  constructor(ask, desk) {
    this.ask = ask;
    this.desk = desk;
    this.element = el("article", { class: "turn", "data-state": ask.state, "data-ask": ask.id });
    this.title = el("h2", { dir: "auto" }, ask.question);
    this.steps = el("ol", { class: "steps" });
    this.progress = el("p", { class: "note", role: "status" }, "");
    this.cancel = el("button", { type: "button", onclick: () => this.#cancel() }, "Stop");
    this.result = el("div", { class: "result", role: "status" });
    this.element.append(this.title, el("div", { class: "row" }, this.cancel, this.progress), this.steps, this.result);
    this.resume();
  }

  // Listens, from the start where it had lost the server, until the question has come to its end.
  resume() {
    if (this.over) return;
    this.stop?.();
    this.steps.replaceChildren();
    this.stop = listen(this.ask.id, {
      onStep: (step) => this.#step(step),
      onState: (state) => this.#state(state),
      onGone: (words) => this.#ended(words, "failed"),
    });
  }

  async #cancel() {
    this.cancel.disabled = true;
    await post(`/asks/${this.ask.id}/cancel`, {}).catch((error) => this.#say(error.message));
  }

  #say(words) {
    this.progress.textContent = words;
  }

  #step(step) {
    if (step.name === "question") return; // it holds all others
    if (step.kind === "begin") {
      this.again = null;
      this.now?.classList.remove("now");
      this.now = el("li", { class: "now", "data-step": step.name }, el("span", {}, STEP_WORDS[step.name] ?? step.name));
      this.steps.append(this.now);
      this.#say("");
    } else if (this.again) {
      if (!this.again.count) this.steps.append(this.again.item); // the program runs again under each doubt
      this.again.count += 1;
      this.again.item.querySelector(".gave").textContent = `${this.again.count} calls`;
    } else if (step.kind !== "end") {
      const item = el("li", { class: step.error ? "tool wrong" : "tool" },
        el("span", {}, el("code", {}, step.words), step.gave ? el("span", { class: "gave" }, ` → ${step.gave}`) : null),
        el("span", { class: "took" }, secondsWords(step.seconds)));
      if (step.error) item.append(el("span", { class: "why" }, step.error));
      this.steps.append(item);
      if (step.name === "reply") this.#measuresAgain();
    } else if (this.now) {
      this.now.classList.remove("now");
      this.now.append(el("span", { class: "took" }, secondsWords(step.seconds)));
      if (step.error) {
        this.now.classList.add("wrong");
        this.now.append(el("span", { class: "why" }, step.error));
      }
      this.now = null;
    }
  }

  // The next call, if any, is one of the same program under a doubt.
  #measuresAgain() {
    const item = el("li", { class: "tool" }, el("span", {}, "The same under each doubt, for the interval ", el("span", { class: "gave" })));
    this.again = { item, count: 0 };
  }

  #state(ask) {
    this.ask = ask;
    this.element.dataset.state = ask.state;
    if (ask.state === "waiting") this.#say(ask.position === 1 ? "Next in the queue." : `Place ${ask.position} in the queue.`);
    else if (ask.state === "working") this.#say(this.steps.childElementCount ? "" : "Starting ...");
    else if (ask.state === "done") this.#done(ask.answer);
    else this.#ended(ask.reason, ask.state);
  }

  #ended(words, state) {
    this.element.dataset.state = state;
    this.#fold();
    this.result.replaceChildren(el("p", { class: state === "failed" ? "sentence error" : "sentence" }, words));
    this.result.append(...optionsNote(words));
    if (this.ask.edited) return;
    this.result.append(el("div", { class: "row" },
      el("button", { type: "button", onclick: () => this.desk.again(this.ask.question) }, "Ask again")));
  }

  // The steps become a line that opens.
  #fold() {
    this.over = true;
    this.cancel.parentElement?.remove();
    if (!this.steps.childElementCount || this.steps.parentElement !== this.element) return;
    const count = this.steps.querySelectorAll("li").length;
    const folded = el("details", { class: "how" }, el("summary", {}, `How: ${count} steps`));
    this.steps.replaceWith(folded);
    folded.append(this.steps);
    this.element.append(folded);
  }

  #done(answer) {
    this.result.replaceChildren(...said(answer, this.ask.area));
    if (answer.run) this.#withRun(answer);
    this.#fold();
    this.desk.onDone(this);
  }

  async #withRun(answer) {
    const place = el("div", {});
    this.result.append(place);
    try {
      const run = await get(`/runs/${encodeURIComponent(answer.run)}`);
      if (answer.objects) await this.#objects(place, answer);
      if (run.program) place.append(this.#program(run.program));
      place.append(this.#files(run));
      place.append(this.#links(answer.run));
    } catch (error) {
      place.append(el("p", { class: "error" }, error.message));
    }
    this.element.dataset.ready = "true";
  }

  async #objects(place, answer) {
    const objects = await get(`/runs/${encodeURIComponent(answer.run)}/objects`, { coordinates: this.desk.coordinates() });
    if (!objects.shapes.length) return;
    this.objects = objects;
    this.desk.found(this);
    const grid = el("div", { class: "grid", role: "grid", tabindex: "0", id: `objects-${this.ask.id}`, "aria-label": "Objects that were counted" });
    const words = objects.total > objects.shapes.length
      ? `Objects: the first ${objects.shapes.length.toLocaleString("en")} of ${objects.total.toLocaleString("en")}`
      : `Objects: ${objects.total.toLocaleString("en")}`;
    const details = el("details", { class: "objects" }, el("summary", {}, words),
      el("p", { class: "note" }, "Choose a row to see it in the picture, or an outline to see its row. Enter goes to it."), grid,
      el("div", { class: "row" }, el("button", { type: "button", onclick: () => this.desk.showObjects(this) }, "Show in the picture")));
    place.append(details);
    this.table = new Table(grid, columnsOf(objects.columns), objects.columns);
    this.table.onChoose = (row, close) => {
      this.desk.showObjects(this);
      this.desk.choose(row, close);
    };
  }

  // What the picture says was picked.
  pick(row) {
    if (row === null) return "";
    this.table.choose(row);
    const { columns } = this.objects;
    const measures = columnsOf(columns).slice(2).map((column) => `${column.label} ${column.shown(row)}`);
    return [`${columns.id[row]}: ${columns.class[row]}`, ...measures].join(", ");
  }

  #program(program) {
    const source = el("textarea", { class: "program", rows: String(Math.min(16, program.split("\n").length + 1)), spellcheck: "false", "aria-label": "Program" });
    source.value = program;
    const said = el("p", { class: "error", role: "alert" });
    const run = async () => {
      said.textContent = "";
      await this.desk.rerun(source.value).catch((error) => { said.textContent = error.message; });
    };
    return el("details", { class: "source" }, el("summary", {}, "Program"), source,
      el("div", { class: "row" }, el("button", { type: "button", class: "run-edited", onclick: run }, "Run the edited program"),
        el("button", { type: "button", class: "quiet", onclick: () => { source.value = program; } }, "As it was")), said);
  }

  #files(run) {
    const has = (name) => run.files.includes(name);
    const offered = FILES.filter(([name]) => (name.startsWith("objects") ? has("objects.gpkg") : name === "run.zip" || has(name)));
    const links = offered.map(([name, words]) =>
      el("a", { href: `/runs/${encodeURIComponent(run.id)}/files/${name}`, download: "" }, words));
    return el("details", { class: "files-of-run" }, el("summary", {}, "Download"), el("div", { class: "downloads" }, ...links));
  }

  #links(run) {
    const place = encodeURIComponent(run);
    const row = el("p", { class: "downloads" }, el("a", { href: `/runs/${place}` }, "Every step of this run"));
    for (const other of this.desk.earlier(this).slice(0, 3)) {
      row.append(el("a", { href: `/compare?a=${encodeURIComponent(other.ask.answer.run)}&b=${place}` }, `Compare with "${other.ask.question.slice(0, 40)}"`));
    }
    return row;
  }
}

// The answer for people: its value large, then what it is the value of.
function said(answer, area) {
  const where = area ? [el("p", { class: "where" }, "inside the drawn area")] : [];
  if (answer.status !== "answered") {
    const words = answer.reason ?? answer.text;
    return [el("p", { class: `sentence ${answer.status}` }, words), ...optionsNote(words), ...where, ...warnings(answer)];
  }
  const [head, ...rest] = answer.text.split(": ");
  const value = head.replace(/ \([^()]* to [^()]*\)$/, "");
  const parts = [el("p", { class: value.length > LONGEST_VALUE ? "value long" : "value", dir: "auto" }, rest.length ? value : answer.text), ...where];
  if (answer.interval && value !== head) {
    const range = head.slice(value.length + 2, -1);
    parts.push(el("p", { class: "interval" }, `${range}, for doubts about ${answer.interval.covers.join(", ")}`));
  }
  if (rest.length) parts.push(el("p", { class: "sentence", dir: "auto" }, rest.join(": ")));
  if (answer.method) parts.push(el("p", { class: "method" }, `Measured ${answer.method}`));
  return [...parts, ...warnings(answer)];
}

// Refusals speak of options of the command line.
const optionsNote = (words) =>
  (/(^|[^\w-])--[a-z]/.test(words) ? [el("p", { class: "note" }, "Options such as --bands are the fields under Files and settings.")] : []);

const warnings = (answer) =>
  (answer.warnings.length ? [el("ul", { class: "warnings" }, ...answer.warnings.map((words) => el("li", { dir: "auto" }, words)))] : []);

const MEASURES = [
  ["area_m2", "Area, m²", "8rem"], ["area_px", "Pixels", "6rem"], ["height_m", "Height, m", "7rem"], ["score", "Score", "5rem"],
  ["length_m", "Length, m", "7rem"], ["width_m", "Width, m", "7rem"],
];

function columnsOf(data) {
  const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
  const shown = (name) => (row) => (data[name][row] === null ? "" : numbers.format(data[name][row]));
  const measures = MEASURES.filter(([name]) => data[name]?.some((value) => value !== null));
  return [
    { name: "id", label: "Id", width: "minmax(4rem, 7rem)", shown: (row) => String(data.id[row]) },
    { name: "class", label: "Class", width: "minmax(5rem, 1fr)", shown: (row) => String(data.class[row]) },
    ...measures.map(([name, label, width]) => ({ name, label, width, figure: true, shown: shown(name) })),
  ];
}
