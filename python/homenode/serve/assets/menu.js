/** A menu of commands at an element: arrows, Home, End, first letters, Enter, Escape. */

import { button, h } from "./dom.js";

/** @typedef {{label: string, hint?: string, act?: () => void, off?: boolean}} Item
 *   Without `act` a heading. */

/** @type {{element: HTMLElement, back: Element} | null} */
let open = null;

/** Close it; the focus goes back to where it was opened. */
export function closeMenu(focus = true) {
  if (!open) return;
  const { element, back } = open;
  open = null;
  element.remove();
  back.removeAttribute("aria-expanded");
  if (focus && "focus" in back) /** @type {HTMLElement} */ (back).focus();
}

/** @param {Element} anchor @param {string} name @param {Item[]} items */
export function openMenu(anchor, name, items) {
  closeMenu(false);
  const element = h("div", { class: "menu", role: "menu", "aria-label": name },
    ...items.map((item) => drawItem(item)));
  element.addEventListener("keydown", keys);
  element.addEventListener("focusout", (event) => {
    const to = /** @type {Node | null} */ (event.relatedTarget);
    if (open?.element === element && to && !element.contains(to)) closeMenu(false);
  });
  document.body.append(element);
  anchor.setAttribute("aria-expanded", "true");
  open = { element, back: anchor };
  put(element, anchor.getBoundingClientRect());
  choices(element)[0]?.focus({ preventScroll: true });
}

/** @param {Item} item */
function drawItem({ label, hint, act, off }) {
  if (!act) return h("div", { class: "heading", role: "presentation" }, label);
  const choice = button("", () => {
    if (off) return;
    closeMenu();
    act();
  }, { role: "menuitem", tabindex: -1, "aria-disabled": off ? "true" : null });
  choice.append(h("span", {}, label), hint ? h("span", { class: "hint" }, hint) : "");
  return choice;
}

/** Below the element, inside the window.
 * @param {HTMLElement} element @param {DOMRect} by */
function put(element, by) {
  const { offsetWidth: wide, offsetHeight: tall } = element;
  const below = by.bottom + 4 + tall <= innerHeight;
  const y = below ? by.bottom + 4 : Math.max(by.top - tall - 4, 4);
  element.style.left = `${scrollX + Math.max(4, Math.min(by.left, innerWidth - wide - 4))}px`;
  element.style.top = `${scrollY + Math.min(y, Math.max(innerHeight - tall - 4, 4))}px`;
}

/** @param {HTMLElement} element @returns {HTMLElement[]} */
const choices = (element) => [...element.querySelectorAll("button")];

/** @param {KeyboardEvent} event */
function keys(event) {
  if (!open) return;
  const all = choices(open.element);
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") closeMenu();
  else if (to !== undefined) all.at(to % all.length)?.focus();
  else if (/^[\w ]$/.test(event.key) && event.key !== " ") letter(all, at, event.key);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {HTMLElement[]} all @param {number} at @param {string} key */
function letter(all, at, key) {
  const order = [...all.slice(at + 1), ...all.slice(0, at + 1)];
  order.find((one) => one.textContent?.toLowerCase().includes(key.toLowerCase()))?.focus();
}

addEventListener("pointerdown", (event) => {
  if (open && !open.element.contains(/** @type {Node} */ (event.target))) closeMenu(false);
});
