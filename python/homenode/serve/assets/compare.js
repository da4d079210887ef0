/** Two layouts side by side, and where the difference comes from. */

import { Refusal, get, post } from "./api.js";
import { at, h } from "./dom.js";
import { lineOf, newest } from "./kept.js";
import { drawMap } from "./map.js";
import { notice } from "./notice.js";
import * as state from "./state.js";
import { grid, picture } from "./told.js";
import { compared, number, signed } from "./words.js";

/** @typedef {import("./contract.js").Answer} Answer */
/** @typedef {import("./contract.js").Difference} Difference */
/** @typedef {import("./contract.js").Layout} Layout */
/** @typedef {import("./contract.js").Start} Start */
/** @typedef {import("./contract.js").Solved} Solved */

let turn = 0;

/** Show the comparison that the address names: as opened beside as it is now, if none. */
export async function showCompare() {
  const mine = ++turn;
  const { left = "opened", right = "now" } = state.now().with;
  const place = at("compared");
  if (place.firstChild) place.classList.add("stale");
  else place.append(h("p", { class: "loading" }, "Loading…"));
  try {
    const { runs } = /** @type {Start} */ (await get("/api/start"));
    if (mine !== turn) return;
    at("sides").replaceChildren(...sides(runs, left, right));
    const both = { left: layoutOf(left), right: layoutOf(right) };
    const one = /** @type {Answer} */ (await post("/api/layout", both.left));
    const other = /** @type {Answer} */ (await post("/api/layout", both.right));
    const difference = /** @type {Difference} */ (await post("/api/difference", both));
    if (mine === turn) draw(place, [one, other], difference, [nameOf(left), nameOf(right)]);
  } catch (error) {
    if (mine !== turn) return;
    if (!(error instanceof Refusal)) throw error;
    place.replaceChildren(h("p", {}, "Nothing to compare: ", error.message));
    if (error.kind !== "lost") notice(error, [["Try again", showCompare]]);
  } finally {
    if (mine === turn) place.classList.remove("stale");
  }
}

/** @param {string} side @returns {Layout} */
function layoutOf(side) {
  if (side.startsWith("run:")) return { base: side, edits: {} };
  const { base, edits } = state.layout();
  return { base, edits: side === "opened" ? {} : edits };
}

/** @param {string} side */
function nameOf(side) {
  return side === "opened" ? "as opened" : side === "now" ? "as it is now"
    : side.replace("run:", "run ");
}

/** @param {string} value @param {string} label @param {string} chosen */
const option = (value, label, chosen) =>
  h("option", { value, selected: value === chosen }, label);

/** @param {Start["runs"]} runs @param {string} left @param {string} right */
function sides(runs, left, right) {
  const here = state.now().base ? ["opened", "now"] : [];
  return [/** @type {const} */ (["left", left]), /** @type {const} */ (["right", right])].map(
    ([side, value]) => {
      const list = h("select", { id: `side-${side}` });
      const fill = (/** @type {Start["runs"]} */ listed) => list.replaceChildren(
        ...here.map((way) => option(way, nameOf(way), value)),
        ...listed.map((run) => option(`run:${run.id}`, lineOf(run), value)));
      const few = newest(runs);
      fill([...few, ...runs.filter(({ id }) => `run:${id}` === value && !few.some(
        (one) => one.id === id))]);
      // All of them when somebody looks for one: until then as few as the first screen lists.
      const all = () => {
        for (const event of ["pointerdown", "focus"]) list.removeEventListener(event, all);
        fill(runs);
      };
      for (const event of ["pointerdown", "focus"]) list.addEventListener(event, all);
      // The other side as it is then: it may have been chosen since this was drawn.
      list.addEventListener("change", () => state.look("compare",
        { left, right, ...state.now().with, [side]: list.value }));
      return h("label", { for: `side-${side}` }, side, " ", list);
    });
}

/** @param {HTMLElement} place @param {Answer[]} answers @param {Difference} difference
 * @param {string[]} names */
function draw(place, answers, difference, names) {
  const solved = [difference.left, difference.right];
  const unit = answers[0]?.map.unit ?? "cores";
  const gap = difference.right.cores - difference.left.cores;
  const beside = answers.map((answer, index) => {
    const map = h("div", { class: "map" });
    const cores = solved[index]?.cores;
    return { map, answer, index, card: h("section", {},
      h("h3", {}, names[index]), h("p", { class: "big" }, `${number(cores)} ${unit}`), map) };
  });
  place.replaceChildren(
    h("p", { class: gap < 0 ? "big fewer" : "big" },
      compared(difference.right.cores, difference.left.cores, unit).replace(
        "as when opened", "on both sides")),
    h("p", {}, difference.says),
    h("div", { class: "beside" }, ...beside.map(({ card }) => card)),
    picture({ title: "Where the difference comes from", svg: difference.picture,
      says: difference.says, table: null }),
    causes(difference),
  );
  for (const { map, answer, index } of beside)
    drawMap(map, { map: answer.map, solved: solved[index] ?? null, still: true,
      name: `${answer.title}, ${names[index]}` });
}

/** @param {Difference} told */
function causes({ rows }) {
  const shown = rows.filter((row) => Math.abs(row.difference) >= 0.005);
  if (!shown.length) return h("p", {}, "No cause differs.");
  return grid({ title: "Causes", heads: ["partition", "cause", "left", "right", "difference"],
    rows: shown.map((row) => [row.partition, row.label, number(row.left, 2),
      number(row.right, 2), signed(row.difference, 2)]) });
}
