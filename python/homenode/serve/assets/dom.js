/** Elements made by hand, and what is said to those who listen. */

const SVG = "http://www.w3.org/2000/svg";
/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined |
 *   ((event: any) => void)>} Attributes */

/**
 * An HTML element; `onclick` and its like are listeners, false and null leave an attribute out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Attributes} [attributes] @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Attributes} [attributes] @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, attributes = {}, ...children) {
  return /** @type {SVGElementTagNameMap[T]} */ (
    fill(document.createElementNS(SVG, tag), attributes, children)
  );
}

/**
 * @template {Element} E
 * @param {E} element @param {Attributes} attributes @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  return element;
}

/** The element of an id that the page always has.
 * @param {string} id @returns {HTMLElement} */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Read out what changed, once.
 * @param {string} text */
export function announce(text) {
  const place = at("said");
  if (place.textContent !== text) place.textContent = text;
}

/**
 * A button.
 * @param {string} label @param {() => void} act @param {Attributes} [attributes]
 */
export function button(label, act, attributes = {}) {
  return h("button", { type: "button", onclick: act, ...attributes }, label);
}

/** Whether things may move by themselves. */
export function moves() {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}
