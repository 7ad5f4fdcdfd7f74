// The question page: an image, questions about it, what comes of them.

import { get, onReturn, post } from "./api.js";
import { send, startChooser } from "./chooser.js";
import { byId } from "./dom.js";
import { Picture } from "./picture.js";
import * as settings from "./settings.js";
import { Turn } from "./turn.js";

const form = byId("ask-form");
const question = byId("question");
const thread = byId("thread");
let picture = null;
let image = null;
let threadId = null;
let turns = [];
let drawn = null; // the turn that the picture shows
let outlines; // those of its objects, once they are there

const desk = {
  coordinates: () => picture.coordinates,
  showObjects(turn) {
    if ((drawn === turn && outlines === turn.objects) || turn.ask.image !== image?.path) return;
    drawn = turn;
    outlines = turn.objects;
    picture.setObjects(turn.objects?.shapes ?? [], turn.ask.area);
    picture.say("");
  },
  // Objects that arrive late are drawn only where nothing newer is shown.
  found(turn) {
    if (drawn === turn) desk.showObjects(turn);
  },
  choose(row, show) {
    picture.choose(row, show);
    picture.say(drawn.pick(row));
  },
  again(words) {
    question.value = words;
    question.focus();
  },
  earlier: (turn) => turns.filter((other) => other !== turn && other.ask.answer?.run),
  onDone(turn) {
    if (!drawn || turns.indexOf(turn) <= turns.indexOf(drawn)) desk.showObjects(turn);
  },
  rerun: (program) => put({ program }),
};

function clearObjects() {
  drawn = null;
  picture.setObjects([]);
  picture.say("");
}

const newThread = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function open(path, keepThread = null) {
  byId("ask-error").textContent = "";
  settings.recall(path);
  try {
    image = await get("/image", { path, bands: settings.bands() });
  } catch (error) {
    byId("ask-error").textContent = error.message;
    return;
  }
  picture.open(image, settings.bands());
  drawn = null;
  byId("choose").textContent = path;
  byId("choose").title = "Choose another image";
  begin(keepThread ?? newThread());
  picture.say(placeWords());
  settings.offerFiles(path);
  if (keepThread) await restore();
}

function placeWords() {
  const [rows, cols] = image.shape;
  const size = image.pixel_size_m?.map((metres) => Number(metres.toPrecision(3)));
  const pixels = size ? `pixels of ${size[0] === size[1] ? size[0] : size.join(" × ")} m, ${image.crs ?? "size as stated"}` : "no CRS: sizes need the pixel size in metres";
  const unnamed = image.bands.length > 1 && image.bands.every((band) => !band.role) ? `; ${image.bands.length} bands without names: name them under Files and settings` : "";
  return `${cols.toLocaleString("en")} × ${rows.toLocaleString("en")} pixels, ${pixels}${unnamed}`;
}

function begin(id) {
  threadId = id;
  turns = [];
  thread.replaceChildren();
  byId("new-thread").hidden = true;
  window.history.replaceState(null, "", `#image=${encodeURIComponent(image.path)}&thread=${id}`);
}

// Shows again what the server knows of this thread, after the page was loaded anew.
async function restore() {
  const { asks } = await get("/asks", { thread: threadId }).catch(() => ({ asks: [] }));
  for (const ask of asks) add(ask);
}

function add(ask) {
  const turn = new Turn(ask, desk);
  turns.unshift(turn);
  thread.prepend(turn.element);
  byId("new-thread").hidden = false;
  return turn;
}

async function put(asked) {
  const ask = await post("/asks", { ...settings.options(), image: image.path, thread: threadId, area: picture.areaOf() ?? undefined, ...asked });
  settings.remember(image.path);
  const turn = add(ask);
  turn.element.scrollIntoView({ block: "nearest" });
}

async function submit() {
  const error = byId("ask-error");
  error.textContent = "";
  if (!image) {
    error.textContent = "Choose an image first.";
    byId("choose").focus();
    return;
  }
  const words = question.value.trim();
  if (!words) return;
  byId("ask").disabled = true;
  try {
    await put({ question: words });
    question.value = "";
  } catch (why) {
    error.textContent = why.message;
  }
  byId("ask").disabled = false;
  question.focus();
}

function start(about) {
  settings.offer(about);
  picture = new Picture(about.base_map);
  picture.onPick = (row) => {
    if (drawn) desk.choose(row, false);
  };
  picture.onArea = (corners) => {
    byId("about-area").hidden = !corners;
    byId("about-area").textContent = corners ? `about the drawn area (${corners.length} corners)` : "";
  };
  startChooser((path) => open(path), about.max_upload_bytes);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });
  byId("new-thread").addEventListener("click", () => {
    begin(newThread());
    clearObjects();
    question.focus();
  });
  form.elements.bands.addEventListener("change", async () => {
    if (!image) return;
    settings.remember(image.path);
    await open(image.path, threadId);
  });
  byId("add-file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) send(file, byId("add-said"), () => settings.offerFiles(image?.path ?? "")).finally(() => { event.target.value = ""; });
  });
  onReturn(() => {
    if (!image) return;
    // Questions that were on their way are asked for again; a server that began anew does not know them.
    for (const turn of turns) turn.resume();
  });
  const hash = new URLSearchParams(window.location.hash.slice(1));
  if (hash.get("image")) open(hash.get("image"), hash.get("thread"));
  document.body.dataset.ready = "true";
}

get("").then(start, (error) => {
  byId("ask-error").textContent = error.message;
  onReturn(() => window.location.reload());
});
