// The files and settings of a question: read from the form, remembered per image in this browser.

import { byId, el } from "./dom.js";
import { get } from "./api.js";

const form = byId("ask-form");
const NUMBERS = ["gsd_m", "vertical_accuracy_m"];
const PAIRS = { bands: Number, thresholds: Number, layers: String };
const names = [...form.querySelectorAll("#settings [name]")].map((field) => field.name);
const key = (image) => `swath:${image}`;

// What the API takes; a sentence is thrown where a field cannot be read.
export function options() {
  const found = {};
  for (const name of names) {
    const value = form.elements[name].value.trim();
    if (!value || (value === "auto" && name === "segmenter")) continue;
    if (name in PAIRS) found[name] = pairs(name, value);
    else found[name] = NUMBERS.includes(name) ? number(name, value) : value;
  }
  return found;
}

export const bands = () => form.elements.bands.value.replace(/\s/g, "");

function pairs(name, value) {
  return Object.fromEntries(value.split(",").filter((part) => part.trim()).map((part) => {
    const at = part.indexOf("=");
    if (at < 1) throw new Error(`${form.elements[name].labels[0].textContent.trim()} are written NAME=VALUE, such as ${form.elements[name].placeholder}.`);
    const text = part.slice(at + 1).trim();
    return [part.slice(0, at).trim(), PAIRS[name] === Number ? number(name, text) : text];
  }));
}

function number(name, text) {
  const found = Number(text.replace(",", "."));
  if (text === "" || !Number.isFinite(found)) throw new Error(`${form.elements[name].labels[0].textContent.trim()} takes numbers, not "${text.slice(0, 40)}".`);
  return found;
}

export function offer(about) {
  for (const [name, values, chosen] of [["planner", about.planners, about.planner], ["segmenter", about.segmenters, "auto"]]) {
    form.elements[name].replaceChildren(...values.map((value) => el("option", { value, selected: value === chosen }, value)));
  }
}

export function remember(image) {
  const values = Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
  try {
    window.localStorage.setItem(key(image), JSON.stringify(values));
  } catch { /* a browser that keeps nothing */ }
}

export function recall(image) {
  let values = {};
  try {
    values = JSON.parse(window.localStorage.getItem(key(image)) ?? "{}") ?? {};
  } catch { /* nothing kept */ }
  for (const name of names) {
    const field = form.elements[name];
    if (field.tagName !== "SELECT") field.value = typeof values[name] === "string" ? values[name] : "";
    else if ([...field.options].some((option) => option.value === values[name])) field.value = values[name];
  }
}

// Offers the files beside an image, and the uploads, wherever a file is asked for.
export async function offerFiles(image) {
  const folder = image.includes("/") ? image.slice(0, image.lastIndexOf("/")) : "";
  const listings = await Promise.all([...new Set([folder, "uploads"])].map((name) => get("/files", { folder: name }).catch(() => ({ entries: [] }))));
  const files = listings.flatMap((listing) => listing.entries).filter((entry) => entry.kind !== "folder");
  byId("other-files").replaceChildren(...files.map((file) => el("option", { value: file.path })));
}
