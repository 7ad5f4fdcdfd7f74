// The map: the image in its own pixels, or on a base map where the server names one; objects and areas on it.

import { query } from "./api.js";
import { byId } from "./dom.js";

const L = window.L;
const CLOSEST = 5; // an image pixel is shown up to 32 pixels wide
const MOST_CORNERS = 1000;
const STYLE = { color: "#ffbe5c", weight: 2, fillColor: "#ffbe5c", fillOpacity: 0.25 };
const CHOSEN = { color: "#ffffff", weight: 4, fillColor: "#ff7a00", fillOpacity: 0.5 };
const AREA = { color: "#4cc3ff", weight: 3, fill: true, fillColor: "#4cc3ff", fillOpacity: 0.08, dashArray: "8 5", interactive: false };

const ASKED = { ...AREA, fill: false, dashArray: null }; // of the answer that is shown

export class Picture {
  constructor(baseMap) {
    this.baseMap = baseMap;
    this.map = null;
    this.shapes = [];
    this.area = null;
    this.mode = null;
    this.corners = [];
    this.onArea = () => {};
    this.onPick = () => {};
    this.#buttons();
  }

  get coordinates() {
    return this.onMap ? "lonlat" : "pixels";
  }

  // Opens an image: what the server says of it, and the bands as the person named them.
  open(image, bands) {
    this.image = image;
    this.onMap = Boolean(this.baseMap && image.bounds);
    this.map?.remove();
    this.#leave();
    this.area = null;
    const options = { attributionControl: false, zoomControl: false, zoomSnap: 0.25, preferCanvas: true, keyboardPanDelta: 120 };
    if (!this.onMap) Object.assign(options, { crs: L.CRS.Simple, minZoom: -image.levels - 2, maxZoom: CLOSEST });
    this.map = L.map("map", options);
    const address = `/api/v1/tiles/${this.coordinates}`;
    const rest = query({ path: image.path, bands, version: image.version });
    if (this.onMap) {
      L.tileLayer(this.baseMap, { maxNativeZoom: 19, maxZoom: 24 }).addTo(this.map);
      L.tileLayer(`${address}/{z}/{x}/{y}.png?${rest}`, { bounds: this.#bounds(), maxZoom: 24 }).addTo(this.map);
    } else {
      const Tiles = L.TileLayer.extend({ getTileUrl: (at) => `${address}/${-at.z}/${at.x}/${at.y}.png?${rest}` });
      new Tiles("", { bounds: this.#bounds(), minNativeZoom: -image.levels, maxNativeZoom: 0, minZoom: -image.levels - 2, maxZoom: CLOSEST })
        .addTo(this.map);
    }
    this.asked = L.layerGroup().addTo(this.map);
    this.objects = L.layerGroup().addTo(this.map);
    this.marks = L.layerGroup().addTo(this.map);
    this.setObjects([]);
    this.map.on("click", (event) => this.#clicked(event.latlng));
    this.map.on("dblclick", () => this.mode === "polygon" && this.#finish());
    this.map.on("mousemove", (event) => this.#moved(event.latlng));
    this.map.on("zoomend moveend", () => this.map.getContainer().setAttribute("data-zoom", this.map.getZoom().toFixed(2)));
    byId("nothing").hidden = true;
    byId("tools").hidden = false;
    this.fit();
  }

  fit() {
    this.map.fitBounds(this.#bounds(), { animate: false });
  }

  #bounds() {
    if (this.onMap) {
      const [west, south, east, north] = this.image.bounds;
      return L.latLngBounds([south, west], [north, east]);
    }
    const [rows, cols] = this.image.shape;
    return L.latLngBounds([-rows, 0], [0, cols]);
  }

  #latlng([x, y]) {
    return this.onMap ? L.latLng(y, x) : L.latLng(-y, x);
  }

  #xy(latlng) {
    return this.onMap ? [latlng.lng, latlng.lat] : [latlng.lng, -latlng.lat];
  }

  // Draws the outlines of objects, and the area that they were sought in; a click on an object picks it.
  setObjects(shapes, area = null) {
    this.objects.clearLayers();
    this.asked.clearLayers();
    if (area?.coordinates === this.coordinates) L.polygon(area.polygon.map((corner) => this.#latlng(corner)), ASKED).addTo(this.asked);
    this.map.getContainer().dataset.shapes = shapes.length;
    this.map.getContainer().dataset.asked = this.asked.getLayers().length;
    this.chosen = null;
    this.shapes = shapes.map((shape, row) => {
      const layer = this.#drawn(shape);
      layer?.on("click", (event) => {
        if (this.mode) return;
        L.DomEvent.stopPropagation(event);
        this.onPick(row);
      });
      layer?.addTo(this.objects);
      return layer;
    });
  }

  #drawn(shape) {
    const ring = (corners) => corners.map((corner) => this.#latlng(corner));
    if (shape.type === "Point") return L.circleMarker(this.#latlng(shape.coordinates), { ...STYLE, radius: 5 });
    if (shape.type === "LineString") return L.polyline(ring(shape.coordinates), STYLE);
    if (shape.type === "MultiLineString") return L.polyline(shape.coordinates.map(ring), STYLE);
    if (shape.type === "Polygon") return L.polygon(shape.coordinates.map(ring), STYLE);
    if (shape.type === "MultiPolygon") return L.polygon(shape.coordinates.map((part) => part.map(ring)), STYLE);
    return null;
  }

  // Marks one object, and brings it into sight if asked.
  choose(row, show = false) {
    if (this.chosen !== null) this.shapes[this.chosen]?.setStyle(STYLE);
    this.chosen = row;
    const layer = row === null ? null : this.shapes[row];
    if (!layer) return;
    layer.setStyle(CHOSEN).bringToFront();
    const bounds = layer.getBounds ? layer.getBounds() : L.latLngBounds([layer.getLatLng()]);
    if (show) this.map.fitBounds(bounds.pad(1), { maxZoom: this.onMap ? 18 : 3, animate: false });
    else if (!this.map.getBounds().intersects(bounds)) this.map.panTo(bounds.getCenter(), { animate: false });
  }

  say(words) {
    byId("map-said").textContent = words;
  }

  // The area that questions are about, as the API takes it; null for the whole image.
  areaOf() {
    return this.area ? { polygon: this.area, coordinates: this.coordinates } : null;
  }

  setArea(corners) {
    this.area = corners;
    this.marks?.clearLayers();
    if (corners) L.polygon(corners.map((corner) => this.#latlng(corner)), AREA).addTo(this.marks);
    byId("clear-area").hidden = !corners;
    this.onArea(corners);
  }

  #buttons() {
    const on = (id, action) => byId(id).addEventListener("click", action);
    on("closer", () => this.map.zoomIn(1));
    on("further", () => this.map.zoomOut(1));
    on("fit", () => this.fit());
    on("draw-box", () => this.#enter("box", "Click two opposite corners of the box. Esc stops."));
    on("draw-polygon", () => this.#enter("polygon", "Click the corners; click the first again, or press Enter, to end. Esc stops."));
    on("take-view", () => {
      this.#leave();
      this.#takeBox(this.map.getBounds());
    });
    on("clear-area", () => {
      this.#leave();
      this.setArea(null);
      byId("draw-box").focus();
    });
    document.addEventListener("keydown", (event) => {
      if (!this.mode) return;
      if (event.key === "Escape") this.#leave();
      if (event.key === "Enter" && this.mode === "polygon" && !event.target.closest("textarea, input, button")) this.#finish();
    });
  }

  #enter(mode, words) {
    const same = this.mode === mode;
    this.#leave();
    if (same) return;
    this.mode = mode;
    byId(`draw-${mode}`).setAttribute("aria-pressed", "true");
    document.body.classList.add("drawing");
    this.map.doubleClickZoom.disable();
    this.map.getContainer().focus();
    this.say(words);
  }

  #leave() {
    if (!this.mode) return;
    byId(`draw-${this.mode}`).setAttribute("aria-pressed", "false");
    document.body.classList.remove("drawing");
    this.mode = null;
    this.corners = [];
    this.map.doubleClickZoom.enable();
    this.sketch?.remove();
    this.sketch = null;
    this.say("");
  }

  #clicked(latlng) {
    if (!this.mode) {
      this.onPick(null);
      return;
    }
    if (this.mode === "box" && this.corners.length === 1) {
      const box = L.latLngBounds(this.corners[0], latlng);
      this.#leave();
      this.#takeBox(box);
      return;
    }
    const first = this.corners[0];
    const near = first && this.map.latLngToContainerPoint(first).distanceTo(this.map.latLngToContainerPoint(latlng)) < 12;
    if (this.mode === "polygon" && near && this.corners.length > 2) {
      this.#finish();
      return;
    }
    if (this.corners.length < MOST_CORNERS) this.corners.push(latlng);
    this.#moved(latlng);
  }

  #moved(latlng) {
    if (!this.mode || !this.corners.length) return;
    const corners = this.mode === "box" ? boxCorners(L.latLngBounds(this.corners[0], latlng)) : [...this.corners, latlng];
    if (this.sketch) this.sketch.setLatLngs(corners);
    else this.sketch = L.polygon(corners, AREA).addTo(this.map);
  }

  #finish() {
    const corners = this.corners.filter((corner, at, all) => at === 0 || !corner.equals(all[at - 1]));
    this.#leave();
    if (corners.length > 2) this.setArea(corners.map((corner) => this.#xy(corner)));
    else this.say("An area has three corners or more.");
  }

  #takeBox(box) {
    const own = this.#bounds();
    const south = Math.max(box.getSouth(), own.getSouth()), north = Math.min(box.getNorth(), own.getNorth());
    const west = Math.max(box.getWest(), own.getWest()), east = Math.min(box.getEast(), own.getEast());
    if (south >= north || west >= east) {
      this.say("That lies beside the image.");
      return;
    }
    this.setArea(boxCorners(L.latLngBounds([south, west], [north, east])).map((corner) => this.#xy(corner)));
  }
}

const boxCorners = (box) => [box.getNorthWest(), box.getNorthEast(), box.getSouthEast(), box.getSouthWest()];
