/**
 * The layout and the view, in the address's fragment; what was changed can be taken back.
 *
 * Each change is an entry of the browser's history, so "back" does what people expect; undo and
 * redo walk the changes alone, whatever views were looked at in between.
 */

/** @typedef {import("./contract.js").Layout} Layout */
/** @typedef {import("./contract.js").Value} Value */
/** @typedef {"start" | "map" | "compare" | "advise" | "run" | "studies"} View */
/** @typedef {{view: View, base: string | null, edits: Record<string, Value>,
 *   with: Record<string, string>}} State */

const VIEWS = ["start", "map", "compare", "advise", "run", "studies"];
/** What a view is about; anything else in the address is a change of the layout. */
const WITH = ["left", "right", "id", "study"];

/** @type {State} */
let state = { view: "start", base: null, edits: {}, with: {} };
/** Steps that can be taken back; older ones are still behind the browser's own "back". */
const MOST_UNDONE = 100;
/** @type {Record<string, Value>[]} */
let past = [];
/** @type {Record<string, Value>[]} */
let future = [];
/** @type {((before: State) => void)[]} */
const listeners = [];

/** What the page shows.
 * @returns {Readonly<State>} */
export const now = () => state;
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

/** The layout shown.
 * @returns {Layout} */
export function layout() {
  return { base: state.base ?? "", edits: state.edits };
}

/** @param {(before: State) => void} hear */
export function onChange(hear) {
  listeners.push(hear);
}

/** Strings that would read as something else stand in quotes.
 * @param {Value} value */
function written(value) {
  return typeof value === "string" && read(value) === value ? value : JSON.stringify(value);
}

/** @param {string} text @returns {Value} */
function read(text) {
  if (!/^(-?[0-9.]+(e[-+]?[0-9]+)?|true|false|".*")$/i.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @param {State} of */
export function address(of) {
  const words = new URLSearchParams();
  if (of.base) words.set("base", of.base);
  if (of.view !== (of.base ? "map" : "start")) words.set("view", of.view);
  for (const [key, value] of Object.entries(of.with)) words.set(key, value);
  for (const [path, value] of Object.entries(of.edits)) words.set(path, written(value));
  return `#${words.toString().replaceAll("%3A", ":").replaceAll("%22", '"')}`;
}

/** @param {string} fragment @returns {State} */
function parsed(fragment) {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const base = words.get("base");
  const view = words.get("view") ?? "";
  /** @type {State} */
  const found = { view: base ? "map" : "start", base, edits: {}, with: {} };
  if (VIEWS.includes(view)) found.view = /** @type {View} */ (view);
  for (const [key, value] of words) {
    if (WITH.includes(key)) found.with[key] = value;
    else if (key !== "base" && key !== "view") found.edits[key] = read(value);
  }
  return found;
}

/** @param {State} next @param {boolean} push */
function show(next, push) {
  const before = state;
  state = next;
  if (push) history.pushState(null, "", address(next));
  for (const hear of listeners) hear(before);
}

/** @param {Record<string, Value>} one @param {Record<string, Value> | undefined} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Change the layout: one step that can be taken back.
 * @param {Record<string, Value>} changes */
export function edit(changes) {
  set({ ...state.edits, ...changes });
}

/** @param {Record<string, Value>} edits */
export function set(edits) {
  if (same(edits, state.edits)) return;
  past.push(state.edits);
  if (past.length > MOST_UNDONE) past.shift();
  future = [];
  show({ ...state, edits }, true);
}

/** Forget a change that the server refused: as if it had never been. */
export function takeBack() {
  const edits = past.pop();
  if (!edits) return;
  const next = { ...state, edits };
  history.replaceState(null, "", address(next));
  show(next, false);
}

export function undo() {
  walk(past, future);
}

export function redo() {
  walk(future, past);
}

/** @param {Record<string, Value>[]} from @param {Record<string, Value>[]} to */
function walk(from, to) {
  const edits = from.pop();
  if (!edits) return;
  to.push(state.edits);
  show({ ...state, edits }, true);
}

/** @param {View} view @param {Record<string, string>} [about] */
export function look(view, about = {}) {
  if (view === state.view && JSON.stringify(about) === JSON.stringify(state.with)) return;
  show({ ...state, view, with: about }, true);
}

/** Open another layout.
 * @param {Layout} layout */
export function open({ base, edits }) {
  past = [];
  future = [];
  show({ view: "map", base, edits, with: {} }, true);
}

/** Take what the address says; where it is the last change taken back, that is an undo. */
function follow() {
  const next = parsed(location.hash);
  if (next.base !== state.base) past = future = [];
  else if (!same(next.edits, state.edits)) {
    if (same(next.edits, past.at(-1))) future = [...future, state.edits], past.pop();
    else if (same(next.edits, future.at(-1))) past.push(state.edits), future.pop();
    else past.push(state.edits), past.splice(0, past.length - MOST_UNDONE), (future = []);
  }
  show(next, false);
}

/** Begin with the address as it is. */
export function begin() {
  addEventListener("popstate", follow);
  state = parsed(location.hash);
  for (const hear of listeners) hear({ view: "start", base: null, edits: {}, with: {} });
}
