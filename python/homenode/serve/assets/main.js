/** The page: its views, its keys, what happens when the server is gone. */

import { endPlay, showAdvise } from "./advise.js";
import { Refusal, answers, download, onLost } from "./api.js";
import { arrived, here } from "./arrival.js";
import { beginBoard, choose, refresh, showBoard } from "./board.js";
import { showCompare } from "./compare.js";
import { at, h } from "./dom.js";
import { startAt } from "./jobs.js";
import { openMenu } from "./menu.js";
import { clearNotice, notice } from "./notice.js";
import { leavePages, showRun, showStudies } from "./pages.js";
import { beginFiles, showStart } from "./start.js";
import * as state from "./state.js";
import { edited } from "./words.js";

const VIEWS = /** @type {const} */ (["start", "map", "compare", "advise", "run", "studies"]);
const FILES = { scenario: "Scenario (TOML)", commands: "Commands that make it so",
  report: "Report (HTML)" };
/** @type {Record<string, [string, () => void]>} */
const KEYS = {
  m: ["map", () => layoutView("map")],
  c: ["compare with the layout as opened", () => layoutView("compare")],
  a: ["advice", () => layoutView("advise")],
  s: ["studies", () => state.look("studies")],
  r: ["simulate", simulate],
  u: ["undo", state.undo],
  y: ["redo", state.redo],
  o: ["open another layout", () => state.look("start")],
  "?": ["these keys", keys],
};

/** @param {"map" | "compare" | "advise"} view */
function layoutView(view) {
  if (state.now().base) state.look(view);
}

/** Show what the address says.
 * @param {state.State} before */
function show(before) {
  const { view, base } = state.now();
  for (const one of VIEWS) at(`view-${one}`).hidden = one !== view && !(one === "map" &&
    view === "advise");
  at("view-advise").hidden = view !== "advise";
  for (const link of document.querySelectorAll("[data-view]")) {
    const to = link.getAttribute("data-view");
    if (to === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    /** @type {HTMLElement} */ (link).hidden = !base && to !== "start" && to !== "studies";
  }
  button("undo").disabled = !state.canUndo();
  button("redo").disabled = !state.canRedo();
  if (view !== before.view) clearNotice(), leavePages();
  if (view !== "advise") endPlay();
  if (base && (view === "map" || view === "advise")) showBoard();
  if (view === "advise") showAdvise();
  if (view === "compare") showCompare();
  if (view === "start") showStart();
  if (view === "run") showRun();
  if (view === "studies") showStudies();
  if (view !== before.view) scrollTo(0, 0);
}

/** @param {string} id */
const button = (id) => /** @type {HTMLButtonElement} */ (at(id));

/** Simulate the layout; its run is shown when it is done, or offered to who has gone elsewhere. */
function simulate() {
  if (!state.now().base) return;
  const from = here();
  const title = at("layout-title").textContent, changed = edited(state.now().edits);
  const words = `The simulation of “${title}”${changed ? ` with ${changed}` : ""} is done.`;
  const done = (/** @type {{run: string}} */ { run }) =>
    arrived(from, words, "Show the run", () => state.look("run", { id: run }));
  startAt({ title: "Simulation", done }, "/api/run", state.layout());
}

function downloads() {
  const save = async (/** @type {string} */ what) => {
    try {
      await download(state.layout(), what);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.kind !== "lost") notice(error, []);
    }
  };
  openMenu(at("download"), "Download", Object.entries(FILES).map(([what, label]) =>
    ({ label, act: () => save(what) })));
}

function keys() {
  const dialog = /** @type {HTMLDialogElement} */ (at("keys"));
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const target = /** @type {Element} */ (event.target);
  const writing = target.closest("input, select, textarea, [role=menu], dialog");
  const control = event.ctrlKey || event.metaKey;
  if (control && event.key.toLowerCase() === "z" && !target.closest("input[type=text]")) {
    event.preventDefault();
    if (event.shiftKey) state.redo();
    else state.undo();
  } else if (event.key === "Escape" && !writing) choose(null);
  else if (!control && !event.altKey && !writing && KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]?.[1]();
  }
}

/** Say that the server is gone, look for it, and go on when it is back. */
function whenLost() {
  const place = at("lost");
  if (!place.hidden) return;
  place.hidden = false;
  const look = async () => {
    if (!(await answers())) return void setTimeout(look, 2000);
    place.hidden = true;
    show(state.now());
    if (state.now().base) refresh();
  };
  setTimeout(look, 2000);
}

function begin() {
  for (const link of document.querySelectorAll("[data-view]"))
    link.addEventListener("click", () =>
      state.look(/** @type {state.View} */ (link.getAttribute("data-view"))));
  at("undo").addEventListener("click", state.undo);
  at("redo").addEventListener("click", state.redo);
  at("simulate").addEventListener("click", simulate);
  at("download").addEventListener("click", downloads);
  at("help").addEventListener("click", keys);
  at("close-keys").addEventListener("click", keys);
  at("key-list").append(...Object.entries(KEYS).map(([key, [words]]) =>
    h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, words))));
  addEventListener("keydown", pressed);
  onLost(whenLost);
  beginFiles();
  beginBoard(() => state.now().view === "advise" && showAdvise());
  state.onChange(show);
  state.begin();
}

begin();
