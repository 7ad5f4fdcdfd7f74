const byId = (id) => document.getElementById(id);
const cards = Array.from(document.querySelectorAll(".card"));
const texts = cards.map((card) => card.textContent.toLowerCase());
const fields = [byId("card-text"), byId("card-type"), byId("card-verdict")];

function filter() {
  const [text, type, verdict] = fields.map((field) => field.value);
  let shown = 0;
  cards.forEach((card, i) => {
    const fits = texts[i].includes(text.toLowerCase()) && (!type || card.dataset.type === type)
      && (!verdict || card.dataset.verdicts.split(" ").includes(verdict));
    card.hidden = !fits;
    shown += fits;
  });
  byId("card-count").textContent = `${shown} of ${cards.length} on this page`;
}

for (const field of fields) field.addEventListener("input", filter);
filter();
