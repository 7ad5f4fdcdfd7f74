// Markup from text is never made on this page, but for two constants by which Leaflet looks for browsers of long ago.
window.trustedTypes?.createPolicy("default", {
  createHTML: (text) => (['<v:shape adj="1"/>', '<svg/>'].includes(text) ? text : null),
});
