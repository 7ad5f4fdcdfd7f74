import { Viewer } from "./viewer.js";
import { Table, measured, whole, objectColumns, objectFilter } from "./table.js";

// The answer is painted first; a page that is not in sight paints nothing, and does not wait for it.
await Promise.race([
  new Promise((done) => requestAnimationFrame(() => setTimeout(done))),
  new Promise((done) => setTimeout(done, 250)),
]);

const found = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const objects = found.objects;

const frame = byId("viewer");
const viewer = frame ? new Viewer(frame, found.viewer.layers.map((layer) => ({ ...layer, name: `${layer.step}: ${layer.name}` }))) : null;
if (viewer && found.viewer.shown !== null) viewer.setLayer("left", found.viewer.shown);

function words(row) {
  const measures = [
    objects.area_m2[row] === null ? `${measured.format(objects.area_px[row])} px` : `${measured.format(objects.area_m2[row])} m²`,
    objects.height_m[row] === null ? "" : `${objects.height_m[row]} m high`,
    objects.score[row] === null ? "" : `score ${objects.score[row]}`,
  ];
  return `${objects.id[row]}: ${[objects.class[row], ...measures].filter(Boolean).join(", ")}; ${objects.why[row]}`;
}

function startTable() {
  const table = new Table(byId("object-table"), objectColumns(objects), objects);
  const fits = objectFilter(objects);
  const fields = { text: byId("object-text"), kind: byId("object-kind"), from: byId("area-from"), to: byId("area-to") };
  const number = (field) => (field.value === "" || Number.isNaN(field.valueAsNumber) ? null : field.valueAsNumber);
  const refilter = () => table.filter(fits({
    text: fields.text.value, kind: fields.kind.value, from: number(fields.from), to: number(fields.to),
  }));
  for (const field of Object.values(fields)) field.addEventListener("input", refilter);
  table.onRows = (rows) => {
    byId("object-count").textContent = `${whole.format(rows.length)} of ${whole.format(objects.id.length)}`;
    viewer?.setVisible(rows.length === objects.id.length ? null : rows);
  };
  table.onChoose = (row, close) => {
    viewer?.choose(row);
    viewer?.say(words(row));
    if (close) viewer?.show(row);
  };
  table.onHover = (row) => viewer?.hover(row);
  if (viewer) {
    viewer.setObjects(objects);
    viewer.onPick = (row) => {
      viewer.choose(row);
      viewer.say(row === null ? "" : words(row));
      table.choose(row);
    };
    viewer.onHover = (row) => {
      table.hover(row);
      if (row !== null) viewer.say(words(row));
      else viewer.say(viewer.chosen === null ? "" : words(viewer.chosen));
    };
  }
  refilter();
}
if (objects.id.length) startTable();

const rows = Array.from(document.querySelectorAll(".steps tbody tr"));
const bars = new Map(Array.from(document.querySelectorAll(".timeline rect"), (bar) => [bar.dataset.step, bar]));

function markStep(id) {
  for (const element of document.querySelectorAll(".steps tr.on, .timeline .on, .source li.on")) element.classList.remove("on");
  const row = byId(id);
  if (!row) return;
  row.classList.add("on");
  bars.get(id.replace("step-", ""))?.classList.add("on");
  if (row.dataset.line) byId(`line-${row.dataset.line}`)?.classList.add("on");
  const show = row.querySelector("[data-layer]");
  if (show && viewer) viewer.setLayer("left", Number(show.dataset.layer));
}

function keepLine(line) {
  for (const row of rows) row.hidden = line !== null && row.dataset.line !== line;
  byId("steps-said").textContent = line === null ? `${rows.length} steps.` : `The calls of line ${line}.`;
  byId("all-steps").hidden = line === null;
}

function followHash() {
  const id = window.location.hash.slice(1);
  if (id.startsWith("step-")) {
    if (byId(id)?.hidden) keepLine(null);
    markStep(id);
    byId(id)?.scrollIntoView({ block: "nearest" });
  }
}

window.addEventListener("hashchange", followHash);
followHash();
byId("all-steps").addEventListener("click", () => keepLine(null));
for (const button of document.querySelectorAll("[data-calls]")) {
  button.addEventListener("click", () => {
    keepLine(button.dataset.calls);
    byId("steps").scrollIntoView();
    byId("steps").focus({ preventScroll: true });
  });
}
for (const [step, bar] of bars) {
  bar.addEventListener("click", () => {
    markStep(`step-${step}`);
    byId(`step-${step}`)?.scrollIntoView({ block: "nearest" });
  });
}
for (const button of document.querySelectorAll("[data-layer]")) {
  button.addEventListener("click", () => {
    markStep(button.closest("tr").id);
    frame?.scrollIntoView({ block: "nearest" });
  });
}
performance.mark("swath:ready");
