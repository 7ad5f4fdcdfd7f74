// Chooses an image: folders and files of the served folder, or an upload.

import { get, upload } from "./api.js";
import { byId, el, sizeWords } from "./dom.js";

const dialog = byId("chooser");
let taken = () => {};
let mostBytes = Infinity;

export function startChooser(onTake, largestUpload) {
  taken = onTake;
  mostBytes = largestUpload;
  for (const button of [byId("choose"), byId("choose-first")]) {
    button.addEventListener("click", () => { dialog.showModal(); show(""); });
    button.disabled = false; // a click before now would have been lost
  }
  byId("chooser-close").addEventListener("click", () => dialog.close());
  byId("upload").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) send(file, byId("chooser-said"), take).finally(() => { event.target.value = ""; });
  });
}

function take(path) {
  dialog.close();
  taken(path);
}

// Uploads a file and says how it went.
export async function send(file, said, then) {
  if (file.size > mostBytes) {
    said.textContent = `${file.name} has ${sizeWords(file.size)}; uploads of more than ${sizeWords(mostBytes)} are refused. Put it into the served folder.`;
    return;
  }
  said.textContent = `Uploading ${file.name} (${sizeWords(file.size)}) ...`;
  try {
    const { path } = await upload(file);
    said.textContent = `Kept as ${path}.`;
    then(path);
  } catch (error) {
    said.textContent = error.message;
  }
}

async function show(folder) {
  const list = byId("chooser-list");
  byId("chooser-said").textContent = "";
  let listing;
  try {
    listing = await get("/files", { folder });
  } catch (error) {
    list.replaceChildren();
    byId("chooser-said").textContent = error.message;
    return;
  }
  byId("chooser-where").textContent = folder ? `In ${folder}` : "In the served folder";
  const entries = listing.entries.filter((entry) => entry.kind !== "other");
  const rows = entries.map((entry) => row(entry.name, entry.kind === "folder" ? "folder" : sizeWords(entry.bytes),
    () => (entry.kind === "folder" ? show(entry.path) : take(entry.path))));
  if (folder) rows.unshift(row("..", "up", () => show(folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "")));
  list.replaceChildren(...rows);
  if (!entries.length) byId("chooser-said").textContent = "There are no images here. Upload one, or put some into the served folder.";
  if (listing.more) byId("chooser-said").textContent = `${listing.more.toLocaleString("en")} more files are not listed.`;
  list.querySelector("button")?.focus();
}

const row = (name, size, action) =>
  el("li", {}, el("button", { type: "button", onclick: action }, el("span", {}, name), el("span", { class: "size" }, size)));
