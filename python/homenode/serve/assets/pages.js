/** A kept run and the studies: what the server tells, drawn as it comes. */

import { Refusal, get } from "./api.js";
import { at, button, h } from "./dom.js";
import { notice } from "./notice.js";
import * as state from "./state.js";
import { all, grid, picture } from "./told.js";

/** @typedef {import("./contract.js").RunTold} RunTold */
/** @typedef {import("./contract.js").Study} Study */
/** @typedef {import("./contract.js").StudyTold} StudyTold */

let turn = 0;

/** Fetch, then draw, if nothing else was asked for in between.
 * @template T @param {string} place @param {string} path @param {(told: T) => Node[]} draw */
async function show(place, path, draw) {
  const mine = ++turn;
  at(place).replaceChildren(h("p", { class: "loading" }, "Loading…"));
  try {
    const told = /** @type {T} */ (await get(path));
    if (mine === turn) at(place).replaceChildren(...draw(told));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (mine !== turn) return;
    at(place).replaceChildren(h("p", {}, error.message));
    if (error.kind !== "lost") notice(error, [["Try again", () => show(place, path, draw)]]);
  }
}

/** Whoever comes back has it told anew: until then nothing of it is held. */
export function leavePages() {
  turn += 1;
  for (const place of ["ran", "studied"]) at(place).replaceChildren();
}

/** The run that the address names. */
export function showRun() {
  const id = state.now().with.id ?? "";
  show("ran", `/api/runs/${encodeURIComponent(id)}`, (/** @type {RunTold} */ told) => [
    h("h2", {}, `Run ${told.id}`),
    h("p", {}, `Of ${told.scenario}. `,
      button("Open its layout", () => state.open(told.layout)), " ",
      button("Compare it", () => state.look("compare", {
        left: `run:${told.id}`, right: state.now().base ? "now" : `run:${told.id}` }))),
    ...told.sections.flatMap((one) => [h("h3", {}, one.title),
      ...one.lines.map((line) => h("p", { class: "says" }, line)), ...all(one)]),
  ]);
}

/** All studies, or the one that the address names. */
export function showStudies() {
  const { study } = state.now().with;
  if (study)
    show("studied", `/api/studies/${encodeURIComponent(study)}`,
      (/** @type {StudyTold} */ told) => [
        button("All studies", () => state.look("studies")), h("h2", {}, told.title),
        ...told.lines.map((line) => h("p", {}, line)),
        ...told.pictures.map(picture), ...told.tables.map(grid)]);
  else
    show("studied", "/api/studies", (/** @type {Study[]} */ told) => [
      h("h2", {}, "Studies"),
      h("p", {}, "What others have published, simulated again: how many rows are within "
        + "tolerance, beside those of a null model."),
      grid({ title: "Studies", heads: ["study", "within tolerance", "by the null model"],
        rows: told.map((one) => [
          button(one.title, () => state.look("studies", { study: one.name }), { class: "plain" }),
          one.score, one.null_score ?? null]) })]);
}
