/**
 * The layout at work: its map, its figures, the chosen partition. A change shows at once; figures
 * are grey until the server's answer to the latest one is there, older answers don't count. First
 * come figures to a thousandth, then the layout solved by itself.
 */

import { Refusal, post } from "./api.js";
import { announce, at, button } from "./dom.js";
import { dragging, letDrag, movedTo } from "./drag.js";
import { expected, homesOf, lodgers } from "./homes.js";
import { drawMap } from "./map.js";
import { legend } from "./marks.js";
import { openMenu } from "./menu.js";
import { clearNotice, notice } from "./notice.js";
import { drawPanel } from "./panel.js";
import * as state from "./state.js";
import { grid } from "./told.js";
import { byPartition, compared, number, percent, placeName, signed } from "./words.js";

/** @typedef {import("./contract.js").Answer} Answer */
/** @typedef {import("./contract.js").First} First */
/** @typedef {import("./contract.js").Value} Value */
/** @typedef {Record<string, Value>} Edits */

/** Share of the cores by which first figures may be off. */
const ROUGHLY = 0.005;

/** The answer, or what a change that isn't answered yet makes of it.
 * @type {Answer | null} */
let answer = null;
/** @type {(Answer & {base: string}) | null} As it was before any change. */
let opened = null;
/** @type {Edits | null} */
let preview = null;
/** @type {string | null} */
let chosen = null;
/** @type {{path: string, value: Value, message: string} | null} */
let refused = null;
/** The path that was changed last, while it is not answered.
 * @type {string | null} */
let tried = null;
let stale = false;
/** Whether there are only first figures. */
let rough = false;
/** What those who listen were told last. */
let said = "";
/** The layout that was asked for last, as text. */
let wanted = "";
let asked = new AbortController();
let onFirst = () => {};

/** What may be changed of any partition: the last words of its paths. */
export function changeable() {
  const fields = Object.values(answer?.fields ?? {}).flat().filter((one) => !one.why_not);
  const moves = Object.values(answer?.moves ?? {}).filter((one) => !one.why_not);
  return new Set([...fields, ...moves].map(({ path }) => path.split(".").pop()));
}

/** Begin: the map takes hands, a change of its width draws it anew; `first` hears when another
 * layout is there.
 * @param {() => void} first */
export function beginBoard(first) {
  onFirst = first;
  const place = at("map");
  const moves = (/** @type {string} */ name) => free(name)?.to ?? [];
  letDrag(place, { moves, drop: move, press: (block) => menuAt(block) });
  place.addEventListener("keydown", (event) => {
    const block = /** @type {Element} */ (event.target).closest("[data-partition]");
    if (!block || !["Enter", " ", "ContextMenu"].includes(event.key)) return;
    event.preventDefault();
    menuAt(block);
  });
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(place.clientWidth - width) < 4) return;
    width = place.clientWidth;
    if (answer && !dragging()) draw();
  }).observe(place);
}

/** @param {string} partition */
function free(partition) {
  const moves = answer?.moves[partition];
  return moves && !moves.why_not ? moves : null;
}

/** The menu of a partition, which becomes the chosen one.
 * @param {Element} anchor */
function menuAt(anchor) {
  const name = anchor.getAttribute("data-partition") ?? chosen;
  if (!name || !answer) return;
  const moves = answer.moves[name];
  choose(name);
  const open = document.querySelector(`#map [data-partition="${CSS.escape(name)}"]`);
  const to = free(name)?.to.filter((place) => place !== moves?.at) ?? [];
  const places = to.map((place) => ({
    label: placeName(place), hint: room(place), act: () => move(name, place),
  }));
  const none = [{ label: moves?.why_not ?? "It has nowhere else to go.", off: true,
    act: () => {} }];
  openMenu(anchor.isConnected ? anchor : (open ?? anchor), `Move ${name}`,
    [{ label: `Move ${name} to…` }, ...(places.length ? places : none)]);
}

/** How full a place is.
 * @param {string} place */
function room(place) {
  const index = answer?.map.nodes.findIndex((one) => one.place === place) ?? -1;
  const node = answer?.map.nodes[index];
  if (!node || !answer?.solved) return "";
  const here = lodgers(answer.map, answer.solved)[index] ?? [];
  const used = here.reduce((sum, one) => sum + (one.cores ?? 0), 0);
  return `${number(used)} of ${node.active} ${answer.map.unit}`;
}

/** @param {string} partition @param {string} place */
function move(partition, place) {
  const moves = free(partition);
  if (!moves || moves.at === place) return;
  announce(movedTo(partition, place));
  change(moves.path, place);
}

/** @param {string} path @param {Value} value */
function change(path, value) {
  tried = path;
  refused = null;
  state.edit({ [path]: value });
}

/** @param {string | null} partition */
export function choose(partition) {
  chosen = partition;
  refused = null;
  if (answer) draw();
}

/** Show other edits than the address's, as a try of a partition; null ends that.
 * @param {Edits | null} edits @param {string | null} partition */
export function tryOut(edits, partition = null) {
  preview = edits;
  chosen = partition ?? chosen;
  refresh();
}

/** Draw, after asking for the layout of the address if another one is shown. */
export function showBoard() {
  if (JSON.stringify(layoutShown()) === wanted) draw();
  else refresh();
}

/** A layout has taken another's place under the same name.
 * @param {string} base */
export function renewed(base) {
  if (opened?.base === base) opened = null;
  if (state.layout().base !== base) return;
  wanted = "";
  if (!at("board").hidden) refresh();
}

function layoutShown() {
  return { base: state.layout().base, edits: shownEdits() };
}

/** Show the layout of the address. */
export async function refresh() {
  const layout = layoutShown();
  const { base, edits } = layout;
  wanted = JSON.stringify(layout);
  said = "";
  rough = false;
  if (answer && opened?.base !== base) answer = chosen = null;
  if (answer && opened) (answer = expected(answer, opened, edits)), (stale = true), draw();
  at("board").hidden = false;
  at("board").classList.toggle("loading", !answer);
  asked.abort();
  const mine = (asked = new AbortController());
  try {
    const plain = Object.keys(edits).length === 0;
    const first = opened?.base === base ? null : await solve({ base, edits: {} }, mine.signal);
    if (first) opened = { base, ...first };
    const fresh = first && plain ? first : await answered(layout, mine.signal);
    if (!mine.signal.aborted) accept(fresh, false);
  } catch (error) {
    if (!mine.signal.aborted) refuse(error);
  }
}

/** One after the other: the server drops a reader's older questions for his latest.
 * @param {state.Layout} layout @param {AbortSignal} signal @returns {Promise<Answer>} */
const solve = (layout, signal) => post("/api/layout", layout, signal);

/** The same; where a layout is shown already, its first figures come on the way.
 * @param {state.Layout} layout @param {AbortSignal} signal @returns {Promise<Answer>} */
async function answered(layout, signal) {
  if (!answer) return solve(layout, signal);
  const found = /** @type {Answer | First} */ (await post("/api/figures", layout, signal));
  if ("map" in found) return found;
  if (found.solved && !signal.aborted) {
    const causes = answer.solved?.causes ?? {};
    accept({ ...answer, solved: { ...found.solved, causes }, unsolved: null }, true);
  }
  return solve(layout, signal);
}

/** @param {Answer} fresh @param {boolean} first Whether only its figures are new. */
function accept(fresh, first) {
  const begins = !answer;
  answer = fresh;
  stale = false;
  rough = first;
  tried = null;
  if (chosen && !fresh.map.partitions.some((one) => one.partition === chosen)) chosen = null;
  at("board").classList.remove("loading");
  if (!refused) clearNotice();
  draw();
  if (begins) onFirst();
  const words = `${headline().filter((one) => one).join(", ")}.`;
  if (fresh.solved && words !== said) announce((said = words));
}

/** A refused change is taken back, and said.
 * @param {unknown} error */
function refuse(error) {
  if (!(error instanceof Refusal)) throw error;
  if (error.kind === "lost") return;
  if (error.kind === "late") return void setTimeout(refresh, 300);
  if (error.kind === "busy" && rough) return void setTimeout(refresh, 2000);
  if (error.kind === "busy") {
    at("board").hidden = !answer;
    return notice(error, [["Try again", refresh]]);
  }
  if (tried && answer) {
    const value = state.now().edits[tried];
    if (value !== undefined) refused = { path: tried, value, message: error.message };
    tried = null;
    state.takeBack();
    notice(error, []);
    return;
  }
  at("board").hidden = true;
  const plain = { base: state.layout().base, edits: {} };
  const edited = Object.keys(state.now().edits).length > 0;
  notice(error, [
    ...(edited ? [/** @type {[string, () => void]} */ (["Open it unchanged",
      () => state.open(plain)])] : []),
    ["Choose another", () => state.look("start")],
  ]);
}

/** The answer in large letters: cores in all, against the layout that was opened, and whose they
 * are. */
function headline() {
  if (!answer?.solved) return ["", "", ""];
  const { unit } = answer.map;
  const all = `${number(answer.solved.cores)} ${unit} used`;
  const before = opened?.solved;
  const unsure = rough && before &&
    Math.abs(answer.solved.cores - before.cores) < ROUGHLY * before.cores;
  if (!before || unsure) return [all, "", ""];
  return [all, compared(answer.solved.cores, before.cores, unit),
    byPartition(answer.solved.partitions, before.partitions)];
}

/** All that shows the layout. */
export function draw() {
  if (!answer) return;
  const { map } = answer;
  const [all, by, whose] = headline();
  const less = answer.solved && opened?.solved && answer.solved.cores - opened.solved.cores;
  at("layout-title").textContent = answer.title || answer.name;
  at("question").textContent = answer.question ?? "";
  at("cores").textContent = all ?? "";
  document.title = `${answer.title || answer.name} – homenode`;
  if (!stale) {
    at("change").textContent = by && Object.keys(shownEdits()).length ? by : "";
    at("whose").textContent = whose && Object.keys(shownEdits()).length ? `${whose}.` : "";
    at("change").className = !less ? "" : less < -0.05 ? "fewer" : less > 0.05 ? "more" : "";
  }
  const why = answer.unsolved?.replace(/\.$/, "");
  at("unsolved").textContent = !why ? "" : answer.solved
    ? `${why}. Simulate it to see one of them.` : `No figures yet: ${why}. Simulate it.`;
  const anyMoves = map.partitions.some(({ partition }) => free(partition));
  at("hint").textContent = anyMoves
    ? "Drag a partition to another place, or choose it and move it from its menu."
    : "Choose a partition to see it and to change it.";
  at("board").classList.toggle("stale", stale);
  at("board").classList.toggle("rough", rough && !stale);
  at("board").setAttribute("aria-busy", String(stale));
  if (!dragging()) {
    drawMap(at("map"), { map, solved: answer.solved, chosen });
    at("legend").replaceChildren(legend(map));
  }
  at("partitions").replaceChildren(table());
  const side = at("panel");
  const onMap = state.now().view === "map";
  side.hidden = chosen === null || !onMap;
  at("choose").hidden = chosen !== null || !onMap;
  if (chosen !== null && !side.hidden)
    drawPanel(side, { answer, opened: opened?.solved ?? null, partition: chosen, refused, stale,
      rough },
    { change, move: menuAt, close: () => choose(null) });
}

export const shownEdits = () => preview ?? state.now().edits;

/** What the map shows, as a table. */
function table() {
  if (!answer) return "";
  const { solved, map: at } = answer;
  const before = opened?.solved?.partitions;
  const rows = at.partitions.map(({ partition, key }) => {
    const ran = solved?.partitions[partition];
    const was = before?.[partition];
    const name = button(`${key} ${partition}`, () => choose(partition), { class: "plain" });
    return [name, homesOf(at, partition).map(placeName).join(", "), number(ran?.cores),
      ran && was ? signed(ran.cores - was.cores) : "–", number(ran?.response_ms),
      percent(ran?.home_share), percent(ran?.near_share), percent(ran?.far_share)];
  });
  return grid({ title: "Partitions", rows, heads: ["partition", "at home in", at.unit, "change",
    "response [ms]", "ran at home", "near", "far"] });
}
