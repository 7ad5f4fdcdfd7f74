"use strict";
const list = document.getElementById("list");
const body = list.tBodies[0];
const rows = Array.from(body.rows);
const words = document.getElementById("words");
const verdict = document.getElementById("verdict");
const type = document.getElementById("type");
const shown = document.getElementById("shown");
const order = new Intl.Collator("en", { numeric: true });
const texts = rows.map((row) => row.textContent.toLowerCase());

function filter() {
  const wanted = words.value.toLowerCase();
  let count = 0;
  rows.forEach((row, i) => {
    const cells = row.cells;
    const fits = texts[i].includes(wanted)
      && (!verdict.value || cells[3].textContent === verdict.value)
      && (!type.value || cells[1].textContent === type.value);
    row.hidden = !fits;
    count += fits;
  });
  shown.textContent = count + " shown";
}

function sort(head) {
  const column = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of list.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const keyed = rows.map((row) => [row.cells[column].dataset.sort || row.cells[column].textContent, row]);
  const compare = column === 7 ? (a, b) => a[0] - b[0] : (a, b) => order.compare(a[0], b[0]);
  body.append(...keyed.sort((a, b) => (down ? -compare(a, b) : compare(a, b))).map((pair) => pair[1]));
}

for (const input of [words, verdict, type]) input.addEventListener("input", filter);
for (const head of list.tHead.rows[0].cells) head.firstChild.addEventListener("click", () => sort(head));
filter();
