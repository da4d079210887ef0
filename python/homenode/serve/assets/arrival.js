/** Work that has ended: come to what it gave, where the reader still waits for it; who has gone
 * elsewhere is told, and comes when he likes. The newest stand open, those before them are folded
 * into one line, and of very many the first ones go: what they led to is kept elsewhere. */

import { announce, at, button, h } from "./dom.js";
import * as state from "./state.js";

/** @typedef {{words: string, label: string, come: () => void}} Told */

const OPEN = 2;
/** What is told at once. Older runs stand among the kept ones, older files among the reader's. */
const MOST = 12;

/** What the reader was told and has not looked at, the newest first.
 * @type {Told[]} */
let waiting = [];
const place = h("div", { class: "arrivals" });

/** Where the reader is: the view, what it is about, and the layout. */
export const here = () => state.address(state.now());

/** @param {string} from Where it was begun, by `here`.
 * @param {string} words What there is. @param {string} label @param {() => void} come */
export function arrived(from, words, label, come) {
  if (here() === from) return come();
  waiting = [{ words, label, come }, ...waiting].slice(0, MOST);
  draw();
  announce(`${words} ${label}: a button at the top of the page.`);
}

/** @param {Told[]} told */
function leave(told) {
  waiting = waiting.filter((one) => !told.includes(one));
  draw();
  // Who pressed a button that is gone goes on from where it was.
  at("jobs").focus();
}

function draw() {
  const open = place.querySelector("details")?.open ?? false;
  const [newest, older] = [waiting.slice(0, OPEN), waiting.slice(OPEN)];
  place.replaceChildren(
    ...newest.map((one) => h("div", { class: "job arrived", role: "group",
      "aria-label": one.words }, ...line(one))),
    older.length ? h("details", { class: "job arrived older", open },
      h("summary", {}, `${older.length} more ${older.length > 1 ? "are" : "is"} done`),
      h("ul", {}, ...older.map((one) => h("li", {}, ...line(one)))),
      button("Dismiss these", () => leave(older))) : "");
  if (!place.isConnected) at("jobs").append(place);
}

/** @param {Told} one */
const line = (one) => [h("strong", {}, one.words),
  button(one.label, () => (leave([one]), one.come()), { class: "main" }),
  button("Dismiss", () => leave([one]))];
