// Calls to the server. Where it does not answer, the page says so until it does again.

import { byId } from "./dom.js";

const BASE = "/api/v1";
const AGAIN_MS = 1500;
const returned = [];
let lost = false;

export class Refusal extends Error {
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

export const onReturn = (listener) => returned.push(listener);

export function query(values) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== "" && value !== null && value !== undefined) found.set(name, value);
  return found.toString();
}

export const get = (path, values = {}) => call(`${path}?${query(values)}`, {});

export const post = (path, value) =>
  call(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

export const upload = (file) =>
  call(`/uploads?${query({ name: file.name })}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });

async function call(path, request) {
  let answer;
  try {
    answer = await fetch(BASE + path, request);
  } catch {
    noticeLost();
    throw new Refusal("The server does not answer. Next: wait until it is back, then try again.", 0);
  }
  const value = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refusal(value?.error ?? `The server answered with status ${answer.status}.`, answer.status);
  return value;
}

// Says that the server is gone, and asks for it until it is back.
export function noticeLost() {
  if (lost) return;
  lost = true;
  const note = byId("lost");
  note.hidden = false;
  note.textContent = "The server does not answer. This page goes on as soon as it is back.";
  window.setTimeout(lookForIt, AGAIN_MS);
}

async function lookForIt() {
  try {
    const answer = await fetch(BASE, { cache: "no-store" });
    if (!answer.ok && answer.status !== 401) throw new Error("not yet");
  } catch {
    window.setTimeout(lookForIt, AGAIN_MS);
    return;
  }
  lost = false;
  byId("lost").hidden = true;
  for (const listener of returned) listener();
}

// Listens to a question: each step once, each change of its state. Ends itself with the question; returns how to stop.
export function listen(id, { onStep, onState, onGone }) {
  const source = new EventSource(`${BASE}/asks/${encodeURIComponent(id)}/events`);
  let seen = -1;
  source.addEventListener("step", (event) => {
    const number = Number(event.lastEventId);
    if (number <= seen) return;
    seen = number;
    onStep(JSON.parse(event.data));
  });
  source.addEventListener("state", (event) => {
    const state = JSON.parse(event.data);
    if (["done", "cancelled", "failed"].includes(state.state)) source.close();
    onState(state);
  });
  source.addEventListener("error", async () => {
    if (source.readyState !== EventSource.CLOSED) {
      noticeLost(); // the browser connects again by itself
      return;
    }
    try {
      await get(`/asks/${encodeURIComponent(id)}`);
      noticeLost();
    } catch (error) {
      onGone(error.status === 404 ? "The server has ended since and forgot this question. Next: ask it again." : error.message);
    }
  });
  return () => source.close();
}
