/** What went wrong, in the server's words, and what can be done about it. */

import { at, button, h } from "./dom.js";

/** Nothing is begun with a capital letter that came without: names are written as they are.
 * @param {{message: string, next?: string | null, where?: string | null}} told
 * @param {[string, () => void][]} ways */
export function notice(told, ways) {
  const where = told.where ? ` (${told.where})` : "";
  at("notice").replaceChildren(
    h("p", {}, h("strong", {}, told.message), where),
    told.next ? h("p", {}, told.next) : "",
    h("p", { class: "actions" }, ...ways.map(([label, act]) => button(label, () => (clearNotice(), act()))),
      button("Close", clearNotice, { class: "plain" })),
  );
  at("notice").hidden = false;
}

export function clearNotice() {
  at("notice").hidden = true;
  at("notice").replaceChildren();
}
