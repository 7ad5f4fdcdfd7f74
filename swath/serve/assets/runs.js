// All runs of the served folder: searched, filtered, two of them compared.

import { get, onReturn } from "./api.js";
import { byId, el } from "./dom.js";

const filters = byId("filters");
const list = byId("list");
const chosen = new Set();
let shown = 0;
let latest = 0;

function row(run) {
  const title = run.question || run.id;
  const box = el("input", { type: "checkbox", "aria-label": `Compare: ${title}`, onchange: () => choose(run.id, box) });
  box.checked = chosen.has(run.id);
  return el("li", { "data-run": run.id }, box, el("div", {},
    el("a", { class: "asked", dir: "auto", href: `/runs/${encodeURIComponent(run.id)}` }, title),
    el("p", { class: "told", dir: "auto" }, run.text),
    el("p", { class: "small" }, el("span", { class: `status ${run.status}` }, run.status), el("span", {}, run.image),
      run.within ? el("span", {}, run.within) : "",
      el("time", { datetime: run.created }, new Date(run.created).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })),
      el("span", {}, run.id))));
}

function choose(id, box) {
  if (box.checked) chosen.add(id);
  else chosen.delete(id);
  byId("compare").disabled = chosen.size !== 2;
  byId("compare").textContent = chosen.size > 2 ? "Choose only two" : "Compare two";
}

async function load(skip) {
  const own = (latest += 1);
  const values = Object.fromEntries(new FormData(filters));
  let found;
  try {
    found = await get("/runs", { ...values, skip });
  } catch (error) {
    byId("count").textContent = error.message;
    return;
  }
  if (own !== latest) return; // a later answer is on its way
  const images = byId("filters").elements.image;
  if (images.options.length === 1) images.append(...found.images.map((name) => el("option", { value: name }, name)));
  if (!skip) list.replaceChildren();
  list.append(...found.runs.map(row));
  shown = skip + found.runs.length;
  byId("count").textContent = found.total === 1 ? "1 run" : `${found.total.toLocaleString("en")} runs`;
  byId("more").hidden = shown >= found.total;
  const address = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  window.history.replaceState(null, "", address.size ? `?${address}` : window.location.pathname);
}

for (const [name, value] of new URLSearchParams(window.location.search)) {
  const field = filters.elements[name];
  if (field?.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) field.append(el("option", { value }, value));
  if (field) field.value = value;
}
filters.addEventListener("input", () => load(0));
filters.addEventListener("submit", (event) => event.preventDefault());
byId("more").addEventListener("click", () => load(shown));
byId("compare").addEventListener("click", () => {
  const [b, a] = [...chosen].sort().reverse();
  window.location.assign(`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
});
onReturn(() => load(0));
load(0);
