/** Kept runs as they are listed: the newest, and older ones when they are asked for, so that the
 * page does not grow with what is kept. */

import { button, h } from "./dom.js";
import * as state from "./state.js";
import { grid } from "./told.js";
import { edited } from "./words.js";

/** @typedef {import("./contract.js").Start} Start */
/** @typedef {import("./contract.js").Run} Run */

const NEWEST = 10;

/** @param {Run[]} runs @returns {Run[]} */
export const newest = (runs) => runs.slice(0, NEWEST);

/** A time as its reader writes it, in the zone in which he reads it.
 * @param {string} when */
const moment = (when) => when &&
  new Date(when).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** What tells a run from others in a line.
 * @param {Run} run */
export const lineOf = (run) =>
  [run.title || run.scenario, edited(run.changes), moment(run.when), run.id]
    .filter(Boolean).join(", ");

/** A table to open them from.
 * @param {Start} told */
export function keptRuns({ runs, kept }) {
  const place = h("div", {});
  const draw = (/** @type {Run[]} */ shown) => {
    const rows = shown.map((run) => [
      button(run.title || run.scenario, () => state.look("run", { id: run.id }),
        { class: "plain" }),
      edited(run.changes) || null, moment(run.when), run.id]);
    const title = shown.length < kept ? `The newest ${shown.length} of ${kept}` : `${kept} kept`;
    const older = runs.length - shown.length;
    place.replaceChildren(
      rows.length ? grid({ title, heads: ["run", "changed", "when", "id"], rows })
        : h("p", {}, "None yet: open a layout and simulate it."),
      older ? button(`Show ${older} older`, () => (draw(runs), focusOn(shown.length)))
        : shown.length < kept ? h("p", {}, "homenode runs lists all of them.") : "");
  };
  const focusOn = (/** @type {number} */ row) =>
    /** @type {HTMLElement | undefined} */ (place.querySelectorAll("tbody button")[row])?.focus();
  draw(newest(runs));
  return place;
}
