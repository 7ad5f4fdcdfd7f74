// The batches of the served folder.

import { get, onReturn } from "./api.js";
import { byId, el } from "./dom.js";

const chosen = new Set();

function row({ folder: name, told }) {
  const box = el("input", { type: "checkbox", "aria-label": `Side by side: ${name}` });
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(name);
    else chosen.delete(name);
    byId("compare").disabled = chosen.size !== 2;
  });
  return el("li", {}, box, el("div", {},
    el("a", { class: "asked", href: `/batch?folder=${encodeURIComponent(name)}` }, name),
    el("p", { class: "small" }, el("span", {}, told))));
}

async function load() {
  chosen.clear();
  const { batches } = await get("/batches").catch((error) => {
    byId("said").textContent = error.message;
    return { batches: [] };
  });
  byId("list").replaceChildren(...batches.map(row));
  if (!batches.length) byId("said").textContent ||= "There is none yet.";
}

byId("compare").addEventListener("click", () => {
  const [a, b] = chosen;
  window.location.assign(`/batches/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
});
onReturn(load);
load();
