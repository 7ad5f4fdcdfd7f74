// Elements from data: text is only ever text, whatever it holds.

export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function sizeWords(bytes) {
  for (const [unit, words] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "kB"]]) {
    if (bytes >= unit) return `${Number((bytes / unit).toPrecision(2))} ${words}`;
  }
  return `${bytes} bytes`;
}

export const secondsWords = (seconds) => (seconds >= 1 ? `${seconds.toFixed(1)} s` : seconds >= 0.001 ? `${Math.round(seconds * 1000)} ms` : "<1 ms");
