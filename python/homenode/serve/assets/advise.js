/** Advice: asked for, then its moves one after the other on the map, to take or to leave. */

import { arrived, here } from "./arrival.js";
import { changeable, shownEdits, tryOut } from "./board.js";
import { announce, at, button, h } from "./dom.js";
import { blockOf } from "./map.js";
import { startAt } from "./jobs.js";
import * as state from "./state.js";
import { number, ofPath, told, whose } from "./words.js";

/** @typedef {import("./contract.js").Advice} Advice */
/** @typedef {import("./contract.js").Change} Change */
/** @typedef {import("./contract.js").Proposal} Proposal */
/** @typedef {import("./contract.js").Value} Value */

const GOALS = { cores: "fewest cores", headroom: "most cores unused",
  response: "shortest responses" };
const FREE = { home: "homes", virtual: "virtual processors", entitlement: "entitlements",
  smt: "threads a core (SMT)", weight: "weights", cores: "dedicated cores",
  cpuset: "processors they may use" };

/** @type {{advice: Advice, layout: string} | null} */
let advised = null;
/** The move that is on the map to be decided.
 * @type {{changes: Change[], at: number, taken: Record<string, Value>} | null} */
let play = null;

/** Draw the side of the map that asks for advice and tells it. */
export function showAdvise() {
  if (advised && advised.layout !== JSON.stringify(state.layout().base)) advised = play = null;
  at("advice").replaceChildren(play ? step(play) : advised ? best(advised.advice) : question());
}

/** Leave the advice alone: the map shows the layout again. */
export function endPlay() {
  if (!play) return;
  play = null;
  tryOut(null);
}

function question() {
  const goal = h("select", { id: "goal" }, ...Object.entries(GOALS).map(([value, words]) =>
    h("option", { value }, words)));
  const there = changeable();
  const boxes = Object.entries(FREE).filter(([word]) => there.has(word)).map(([value, words]) => {
    const on = value === "home" || value === "virtual";
    const box = h("input", { type: "checkbox", id: `free-${value}`, value, checked: on });
    return { box, label: h("label", { for: `free-${value}` }, box, ` ${words}`) };
  });
  const time = h("input", { type: "number", id: "seconds", min: 1, max: longest, value:
    Math.min(10, longest) });
  const ask = button("Ask for advice", () => {
    const free = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    const layout = state.layout(), from = here();
    const done = (/** @type {Advice} */ advice) => {
      const found = { advice, layout: JSON.stringify(layout.base) };
      advised = found;
      if (state.now().view === "advise" && state.now().base === layout.base) return showAdvise();
      arrived(from, "The advice is there.", "Show the advice", () => {
        if (state.now().base !== layout.base) state.open(layout);
        advised = found;
        state.look("advise");
      });
    };
    startAt({ title: "Advice", done }, "/api/advise",
      { ...layout, ...(free.length ? { free } : {}), goal: goal.value,
        time_s: Number(time.value) });
  }, { class: "main" });
  return h("div", {}, h("h2", {}, "Advice"),
    h("p", {}, "Searches for a layout that needs less, and gives a reason for each move."),
    h("p", {}, h("label", { for: "goal" }, "Looks for "), goal),
    h("fieldset", {}, h("legend", {}, "May change"), ...boxes.map(({ label }) => label)),
    h("p", {}, h("label", { for: "seconds" }, "Searches for "), time, " s"), ask);
}

let longest = 20;
/** The longest search that the server allows.
 * @param {number} seconds */
export function limitSearch(seconds) {
  longest = seconds;
}

/** @param {Advice} advice */
function best({ told: words, best: proposals }) {
  return h("div", {}, h("h2", {}, "Advice"), h("p", { class: "big" }, words),
    ...proposals.filter((one) => one.changes.length).map(proposal),
    h("p", {}, button("Ask anew", () => ((advised = null), showAdvise()))));
}

/** @param {Proposal} one @param {number} index */
function proposal(one, index) {
  const saved = number(one.saving_cores.mean), count = one.changes.length;
  return h("section", { class: "proposal" },
    h("h3", {}, `${index + 1}. saves ${saved} cores by ${count} ${count > 1 ? "moves" : "move"}`),
    h("ol", {}, ...one.changes.map((change) => h("li", {}, h("strong", {}, words(change)),
      h("p", { class: "hint" }, why(change))))),
    button("Play on the map", () => begin(one.changes), { class: "main" }), " ",
    button("Take all", () => {
      state.set({ ...state.now().edits, ...edits(one.changes) });
      state.look("map");
    }));
}

/** @param {Change} change */
const words = ({ path, from, to }) =>
  `${whose(path) ?? path}: ${ofPath(path)} ${told(from)} → ${told(to)}`;

/** @param {Change} change */
const why = (change) => change.why.replaceAll("->", "→").replace(/(?<= )-(?=\d)/g, "−");

/** @param {Change[]} changes @returns {Record<string, Value>} */
const edits = (changes) => Object.fromEntries(changes.map(({ path, to }) => [path, to]));

/** @param {Change[]} changes */
function begin(changes) {
  play = { changes, at: 0, taken: {} };
  onMap();
}

/** The move at hand on the map, with those taken before it. */
function onMap() {
  const change = play?.changes[play.at];
  if (!play || !change) return;
  const name = whose(change.path);
  tryOut({ ...state.now().edits, ...play.taken, [change.path]: change.to }, name);
  showAdvise();
  announce(`Move ${play.at + 1} of ${play.changes.length}: ${words(change)}. ${change.why}`);
  at("take").focus({ preventScroll: true });
  if (name) blockOf(at("map"), name)?.scrollIntoView({ block: "nearest" });
}

/** @param {{changes: Change[], at: number, taken: Record<string, Value>}} of */
function step({ changes, at: here, taken }) {
  const change = changes[here];
  if (!change) return "";
  const decide = (/** @type {boolean} */ take) => {
    if (!play) return;
    if (take) play.taken = { ...taken, [change.path]: change.to };
    play.at += 1;
    if (play.at < changes.length) onMap();
    else finish();
  };
  return h("div", {}, h("h2", {}, `Move ${here + 1} of ${changes.length}`),
    h("p", { class: "big" }, words(change)), h("p", {}, why(change)),
    h("p", {}, button("Take it", () => decide(true), { id: "take", class: "main" }), " ",
      button("Leave it", () => decide(false)), " ",
      button("Stop", () => (endPlay(), showAdvise()), { class: "plain" })),
    h("p", { class: "hint" }, `${Object.keys(taken).length} taken so far.`));
}

/** What was taken becomes one change of the layout. */
function finish() {
  const taken = play?.taken ?? {};
  play = null;
  const count = Object.keys(taken).length;
  const next = { ...state.now().edits, ...taken };
  tryOut(null);
  if (count) state.set(next);
  state.look("map");
  const moves = count > 1 ? "moves" : "move";
  announce(count ? `${count} ${moves} taken; undo takes all of it back.` : "No move taken.");
}

/** Whether the map shows a try. */
export const playing = () => play !== null && shownEdits() !== state.now().edits;
