/** What went wrong, in the server's words, and what can be done about it. */

import { at, button, h } from "./dom.js";

/** Begun as sentences are, where a plain word stands first: names are written as they are.
 * @param {string} text */
const sentence = (text) => text.replace(/^(?!homenode\b)[a-z]+(?= )/,
  (word) => word.charAt(0).toUpperCase() + word.slice(1));

/** @param {{message: string, next?: string | null, where?: string | null}} told
 * @param {[string, () => void][]} ways */
export function notice(told, ways) {
  const where = told.where ? ` (${told.where})` : "";
  at("notice").replaceChildren(
    h("p", {}, h("strong", {}, sentence(told.message)), where),
    told.next ? h("p", {}, sentence(told.next)) : "",
    h("p", { class: "actions" }, ...ways.map(([label, act]) => button(label, () => (clearNotice(), act()))),
      button("Close", clearNotice, { class: "plain" })),
  );
  at("notice").hidden = false;
}

export function clearNotice() {
  at("notice").hidden = true;
  at("notice").replaceChildren();
}
