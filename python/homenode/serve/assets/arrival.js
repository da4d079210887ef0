/** Work that has ended: come to what it gave, where the reader still waits for it; who has gone
 * elsewhere is told, and comes when he likes. */

import { announce, at, button, h } from "./dom.js";
import * as state from "./state.js";

/** Where the reader is: the view, what it is about, and the layout. */
export const here = () => state.address(state.now());

/** @param {string} from Where it was begun, by `here`.
 * @param {string} words What there is. @param {string} label @param {() => void} come */
export function arrived(from, words, label, come) {
  if (here() === from) return come();
  const leave = (/** @type {() => void} */ then) => () => {
    card.remove();
    // Who pressed a button that is gone goes on from where it was.
    at("jobs").focus();
    then();
  };
  const card = h("div", { class: "job arrived", role: "group", "aria-label": words },
    h("strong", {}, words), button(label, leave(come), { class: "main" }),
    button("Dismiss", leave(() => {})));
  at("jobs").append(card);
  announce(`${words} ${label}: a button at the top of the page.`);
}
