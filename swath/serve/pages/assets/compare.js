import { Viewer } from "./viewer.js";
import { Table, objectColumns } from "./table.js";

const sides = JSON.parse(document.getElementById("data").textContent);
const viewers = sides.map((side, i) => {
  const root = document.getElementById(`viewer-${i}`);
  if (!root) return null;
  const viewer = new Viewer(root, side.viewer.layers.map((layer) => ({ ...layer, name: `${layer.step}: ${layer.name}` })));
  if (side.viewer.shown !== null) viewer.setLayer("left", side.viewer.shown);
  return viewer;
});

sides.forEach((side, i) => {
  const { objects } = side;
  const viewer = viewers[i];
  if (!objects.id.length) return;
  const columns = objectColumns(objects).map((column) => (column.name === "why" ? { ...column, label: "In which runs" } : column));
  const table = new Table(document.getElementById(`objects-${i}`), columns, objects);
  viewer?.setObjects(objects);
  const only = document.querySelector(`[data-only="${i}"]`);
  const refilter = () => table.filter((row) => !only.checked || objects.only[row]);
  table.onRows = (rows) => {
    document.getElementById(`count-${i}`).textContent = `${rows.length} of ${objects.id.length}`;
    viewer?.setVisible(rows.length === objects.id.length ? null : rows);
  };
  table.onChoose = (row, close) => {
    viewer?.choose(row);
    if (close) viewer?.show(row);
  };
  table.onHover = (row) => viewer?.hover(row);
  if (viewer) {
    viewer.onPick = (row) => {
      viewer.choose(row);
      table.choose(row);
    };
    viewer.onHover = (row) => table.hover(row);
  }
  only.addEventListener("change", refilter);
  refilter();
});
