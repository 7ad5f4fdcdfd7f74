// A person goes through a data set item by item. A decision is on the server, or else in this browser until it is there.

import { get, onReturn, post } from "./api.js";
import { byId, el } from "./dom.js";

const KINDS = { referring: "Refers to the marked object", caption: "Caption", question: "Question", quantity: "Quantity" };
const DONE = { accept: "accepted", edit: "edited", remove: "removed" };
const WAITING = "swath-verification-waiting";
const BEGUN = "swath-verification-begun";
let state = null;
let shown = null;
let since = performance.now();

const kept = (key, fallback) => {
  try {
    return JSON.parse(window.localStorage.getItem(key)) ?? fallback;
  } catch {
    return fallback;
  }
};
const keep = (key, value) => window.localStorage.setItem(key, JSON.stringify(value));
const say = (text) => (byId("said").textContent = text);
const who = () => ({ folder: byId("folder").value, person: byId("person").value.trim() });
const draftKey = (item) => `swath-verification-draft:${who().folder}:${who().person}:${item.id}`;

async function list() {
  const { sets } = await get("/verification");
  const before = kept(BEGUN, {});
  byId("folder").replaceChildren(...sets.map((name) => el("option", { value: name, selected: name === before.folder }, name)));
  byId("person").value ||= before.person ?? "";
  if (!sets.length) say("The served folder holds no data set of swath bench annotate.");
  else if (before.person && sets.includes(before.folder)) await begin();
}

async function begin() {
  keep(BEGUN, who());
  await send();
  await refresh();
  byId("work").hidden = false;
  await open(state.next ?? state.patches[0]);
}

async function refresh() {
  state = await get("/verification/state", who());
  const again = state.turn === 2 ? `; second pass: ${state["decided again"]} of ${state.again}` : "";
  const pace = state["seconds an item"] === null ? "" : `; ${state["seconds an item"]} s an item`;
  byId("progress").textContent = `${state.decided} of ${state.items} items decided${again}${pace}`;
  const others = state.people.filter((name) => name !== who().person);
  byId("other").replaceChildren(el("option", { value: "" }, "nobody"), ...others.map((name) => el("option", { value: name }, name)));
}

async function open(name) {
  shown = await get("/verification/patch", { ...who(), name, turn: state.turn });
  const [width, height] = shown.size;
  byId("image").src = `/api/v1/verification/picture?path=${encodeURIComponent(shown.image)}`;
  byId("image").alt = `Patch ${shown.name} with ${shown.objects.length} objects`;
  byId("name").textContent = `${shown.name} (${state.patches.indexOf(shown.name) + 1} of ${state.patches.length})`;
  byId("boxes").setAttribute("viewBox", `0 0 ${width} ${height}`);
  byId("boxes").replaceChildren(...shown.objects.map(polygon));
  byId("items").replaceChildren(...shown.items.map(row));
  if (!shown.items.length) byId("items").append(el("li", {}, "Nothing to verify in this patch."));
  const first = shown.items.findIndex((item) => !item.decision);
  focusItem(Math.max(0, first));
}

function polygon(object) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
  drawn.setAttribute("points", object.corners.join(" "));
  drawn.dataset.object = String(object.id);
  return drawn;
}

function row(item, position) {
  const words = item.decision?.action === "edit" ? item.decision.text : item.text;
  const answer = item.decision?.action === "edit" ? item.decision.answer : item.answer;
  const line = el("li", { tabindex: 0, "data-item": item.id, "aria-label": `${KINDS[item.kind]}: ${words} ${answer}` },
    el("div", { class: "words" }, words, answer ? el("strong", {}, ` ${answer}`) : null),
    el("div", { class: "small" }, el("span", {}, KINDS[item.kind]), el("span", { class: "verdict" }),
      item.flag ? el("span", { class: "flag" }, `${item.flag}${item.note ? `: ${item.note}` : ""}`) : null),
    el("div", { class: "row" },
      el("button", { type: "button", tabindex: -1, onclick: () => decide(position, "accept") }, "Accept"),
      el("button", { type: "button", tabindex: -1, onclick: () => edit(position) }, "Edit"),
      el("button", { type: "button", tabindex: -1, onclick: () => decide(position, "remove") }, "Remove")));
  line.addEventListener("focus", () => mark(item));
  line.addEventListener("mouseenter", () => mark(item));
  line.addEventListener("keydown", (event) => pressed(event, position));
  mark_decision(line, item);
  if (kept(draftKey(item), null)) window.queueMicrotask(() => edit(position, false));
  return line;
}

function mark_decision(line, item) {
  line.classList.remove("accept", "edit", "remove");
  if (!item.decision) return;
  line.classList.add(item.decision.action);
  line.querySelector(".verdict").textContent = DONE[item.decision.action];
}

function mark(item) {
  for (const drawn of byId("boxes").children) drawn.classList.toggle("meant", item.objects.includes(Number(drawn.dataset.object)));
}

const lineOf = (position) => byId("items").children[position];

function focusItem(position) {
  since = performance.now();
  lineOf(Math.min(position, Math.max(0, shown.items.length - 1)))?.focus();
}

function pressed(event, position) {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = { a: () => decide(position, "accept"), e: () => edit(position), r: () => decide(position, "remove"), n: () => step(1),
    j: () => focusItem(position + 1), ArrowDown: () => focusItem(position + 1), k: () => focusItem(Math.max(0, position - 1)),
    ArrowUp: () => focusItem(Math.max(0, position - 1)) }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function edit(position, focus = true) {
  const item = shown.items[position];
  const line = lineOf(position);
  if (line.querySelector("input")) return;
  const draft = kept(draftKey(item), null) ?? { text: item.decision?.text || item.text, answer: item.decision?.answer || item.answer };
  const text = el("input", { value: draft.text, maxlength: 2000, "aria-label": "Words" });
  const answer = item.answer ? el("input", { value: draft.answer, maxlength: 60, "aria-label": "Answer" }) : null;
  const fields = el("div", { class: "fields" }, text, answer);
  const now = () => ({ text: text.value, answer: answer?.value ?? "" });
  fields.addEventListener("input", () => keep(draftKey(item), now()));
  fields.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") decide(position, "edit", now());
    if (event.key === "Escape") forget(item, fields, line);
  });
  line.insertBefore(fields, line.children[1]);
  if (!focus) return;
  text.focus();
  fields.scrollIntoView({ block: "center" });
  text.setSelectionRange(text.value.length, text.value.length);
}

function forget(item, fields, line) {
  window.localStorage.removeItem(draftKey(item));
  fields.remove();
  line.focus();
}

async function decide(position, action, words = {}) {
  const item = shown.items[position];
  const own = { text: item.text, answer: item.answer, ...words };
  if (action === "edit" && !own.text.trim()) return say("An edited text is empty. Remove the item, or write something.");
  const decision = { item: item.id, action, ...own, seconds: (performance.now() - since) / 1000, turn: state.turn };
  item.decision = decision;
  window.localStorage.removeItem(draftKey(item));
  keep(WAITING, [...kept(WAITING, []), { ...who(), decision }]);
  lineOf(position).replaceWith(row(item, position));
  if (position + 1 < shown.items.length) focusItem(position + 1);
  else byId("next").focus();
  await send();
  await refresh();
}

let sending = Promise.resolve();

// Sends what waits, in order; what the server does not take stays.
function send() {
  sending = sending.then(async () => {
    for (let waiting = kept(WAITING, []); waiting.length; waiting = kept(WAITING, [])) {
      const { folder, person, decision } = waiting[0];
      try {
        await post("/verification/decisions", { folder, person, decisions: [decision] });
      } catch (error) {
        say(error.message);
        if (error.status !== 400) return;
      }
      keep(WAITING, kept(WAITING, []).slice(1));
    }
  });
  return sending;
}

async function step(by) {
  const at = state.patches.indexOf(shown.name) + by;
  if (at >= 0 && at < state.patches.length) await open(state.patches[at]);
}

const figure = (value) => (value === null ? "none" : Number(value.toPrecision(3)).toString());

byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  say("");
  begin().catch((error) => say(error.message));
});
byId("next").addEventListener("click", () => step(1));
byId("previous").addEventListener("click", () => step(-1));
byId("export").addEventListener("click", () =>
  post("/verification/export", who()).then(({ folder }) => say(`Written to ${folder}.`), (error) => say(error.message)));
byId("other").addEventListener("change", async () => {
  const b = byId("other").value;
  if (!b) return byId("agreement").replaceChildren();
  const found = await get("/verification/agreement", { folder: who().folder, a: who().person, b });
  byId("agreement").textContent = `${found["same action"]} of ${found.items} alike, kappa ${figure(found.kappa)}; numbers: ${found.numbers}, MAD ${figure(found.MAD)}, MADc ${figure(found.MADc)}`;
});
onReturn(() => send().then(refresh));
list().catch((error) => say(error.message));
