/** What stands for a partition and for a core: letters, colours, and what they mean. */

import { h, s } from "./dom.js";

/** @typedef {import("./contract.js").MachineMap} MachineMap */

const COLOURS = 12;
/** Widths of a letter on the map, of names and of what is small. */
const LETTER = 7.4;
export const SMALL = 6.3;

/** @param {MachineMap} map @param {string} partition */
export function keyOf(map, partition) {
  return map.partitions.find((one) => one.partition === partition)?.key ?? "?";
}

/** The class of a partition's colour.
 * @param {MachineMap} map @param {string} partition */
export function colourOf(map, partition) {
  const at = map.partitions.findIndex((one) => one.partition === partition);
  return `k${Math.max(at, 0) % COLOURS}`;
}

/** @param {string} text @param {number} room */
export function cut(text, room, letter = LETTER) {
  const most = Math.max(Math.floor(room / letter), 3);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** What the marks mean.
 * @param {MachineMap} map */
export function legend(map) {
  const one = (/** @type {string} */ kind, /** @type {string} */ words) =>
    h("li", {}, s("svg", { width: 16, height: 10, "aria-hidden": "true" },
      s("rect", { class: kind, x: 1, y: 1, width: 14, height: 8 })), ` ${words}`);
  return h("ul", { class: "legend" },
    one("ran-home", "ran at home"), one("ran-near", `near it (same ${map.node})`),
    one("ran-far", `far from it (other ${map.node})`), one("core open", "core shared or free"),
    map.marks["-"] ? one("core off", "core not active") : null);
}
