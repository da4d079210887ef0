/** Tables and pictures that the server made. */

import { h } from "./dom.js";
import { number } from "./words.js";

/** @typedef {import("./contract.js").Picture} Picture */
/** @typedef {{title: string, heads: string[],
 *   rows: (string | number | null | HTMLElement)[][]}} Rows */

/** A number as it is told: with a sign, a range, an interval, a unit of percent; or none. */
const FIGURE = /^[−+±-]?[0-9][0-9.,]*( ± [0-9.,]+)?( %)?$|^–$/;

const LONG = 12;

/** A table; numbers stand to the right.
 * @param {Rows} told */
export function grid({ title, heads, rows }) {
  const body = rows.map((row) => h("tr", {}, ...row.map((cell, at) => {
    const shown = typeof cell === "number" && !Number.isInteger(cell) ? number(cell, 2) : cell;
    const figure = typeof cell === "number" || FIGURE.test(String(cell));
    return at === 0
      ? h("th", { scope: "row" }, shown)
      : h("td", { class: figure ? "figure" : null }, shown ?? "–");
  })));
  const first = body[0]?.children;
  const head = h("tr", {}, ...heads.map((one, at) =>
    h("th", { scope: "col", class: first?.[at]?.className || null }, one)));
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title },
    h("table", {}, h("caption", {}, title), h("thead", {}, head), h("tbody", {}, ...body)));
}

/** A picture with its text and its table below. Where it has no room it is not made smaller, for then
 * its letters could not be read: it is scrolled.
 * @param {Picture} told */
export function picture({ title, svg, says, table }) {
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  return h("figure", {},
    title ? h("figcaption", {}, title) : null,
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title },
      h("img", { src: source, alt: says || title })),
    table ? h("details", {}, h("summary", {}, `As a table: ${title}`), grid(table)) : null);
}

/** A long table is folded.
 * @param {Rows} told */
function folded(told) {
  if (told.rows.length <= LONG) return grid(told);
  const name = told.title || `${told.rows.length} rows`;
  return h("details", {}, h("summary", {}, name), grid({ ...told, title: name }));
}

/** @param {{pictures: Picture[], tables: Rows[]}} told */
export function all({ pictures, tables }) {
  return [...pictures.map(picture), ...tables.map(folded)];
}
