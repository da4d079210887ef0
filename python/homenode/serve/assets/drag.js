/**
 * Moving a partition with a pointer: mouse, pen or finger. On a touch screen the letter is the
 * grip, so that the rest still scrolls the page; a press that doesn't move opens the menu.
 */

import { placeName } from "./words.js";

/** @typedef {{moves: (partition: string) => string[],
 *   drop: (partition: string, place: string) => void,
 *   press: (block: Element) => void}} Hands */
/** @typedef {{block: SVGGElement, partition: string, x: number, y: number, id: number,
 *   ghost: SVGGElement | null, over: Element | null, place: string | null,
 *   to: string[]}} Grip */

const SLACK = 5, EDGE = 48;
/** @type {Grip | null} */
let grip = null;

/** Whether something is in the hand: a map must not be drawn anew then. */
export const dragging = () => grip?.ghost != null;

/** Let partitions of a map be dragged.
 * @param {HTMLElement} map @param {Hands} hands */
export function letDrag(map, hands) {
  map.addEventListener("pointerdown", (event) => take(map, event, hands));
  map.addEventListener("pointermove", (event) => carry(map, event));
  map.addEventListener("pointerup", (event) => release(map, event, hands));
  map.addEventListener("click", (event) => {
    const block = /** @type {Element} */ (event.target).closest("[data-partition]");
    if (block) hands.press(block);
  });
  map.addEventListener("pointercancel", () => letGo(map));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && grip?.ghost) letGo(map);
  });
}

/** @param {HTMLElement} map @param {PointerEvent} event @param {Hands} hands */
function take(map, event, hands) {
  const target = /** @type {Element} */ (event.target);
  const block = /** @type {SVGGElement | null} */ (target.closest("[data-partition]"));
  const partition = block?.getAttribute("data-partition");
  if (!block || !partition || event.button !== 0 || grip?.ghost) return;
  const [x, y, to] = [event.clientX, event.clientY, hands.moves(partition)];
  grip = { block, partition, x, y, id: event.pointerId, ghost: null, over: null, place: null, to };
  if (event.pointerType === "mouse") event.preventDefault();
}

/** @param {HTMLElement} map @param {PointerEvent} event */
function carry(map, event) {
  if (!grip || event.pointerId !== grip.id) return;
  const [dx, dy] = [event.clientX - grip.x, event.clientY - grip.y];
  if (!grip.ghost) {
    if (Math.hypot(dx, dy) < SLACK || !grip.to.length) return;
    lift(map);
  }
  scrollAtEdge(event.clientY);
  const box = map.getBoundingClientRect();
  const start = grip.block.getBoundingClientRect();
  const [x, y] = [event.clientX - box.x - 14, event.clientY - box.y - start.height / 2];
  grip.ghost?.setAttribute("transform", `translate(${x} ${y})`);
  over(map, document.elementFromPoint(event.clientX, event.clientY));
}

/** @param {HTMLElement} map */
function lift(map) {
  if (!grip) return;
  map.setPointerCapture(grip.id);
  grip.ghost = /** @type {SVGGElement} */ (grip.block.cloneNode(true));
  for (const name of ["tabindex", "role", "data-partition"]) grip.ghost.removeAttribute(name);
  grip.ghost.setAttribute("aria-hidden", "true");
  grip.ghost.classList.add("ghost");
  grip.block.classList.add("lifted");
  map.classList.add("dragging");
  map.querySelector("svg")?.append(grip.ghost);
}

/** Mark where it would land.
 * @param {HTMLElement} map @param {Element | null} under */
function over(map, under) {
  if (!grip) return;
  grip.over?.classList.remove("target", "refused");
  grip.over = null;
  grip.place = null;
  const places = [...map.querySelectorAll("[data-place]")].filter((one) => one.contains(under));
  for (const one of places.reverse()) {
    const place = one.getAttribute("data-place") ?? "";
    const may = grip.to.includes(place);
    if (!may && place.includes(".")) continue;
    grip.over = one;
    grip.place = may ? place : null;
    one.classList.add(may ? "target" : "refused");
    return;
  }
}

/** @param {number} y */
function scrollAtEdge(y) {
  if (y < EDGE) scrollBy(0, -12);
  else if (y > innerHeight - EDGE) scrollBy(0, 12);
}

/** @param {HTMLElement} map @param {PointerEvent} event @param {Hands} hands */
function release(map, event, hands) {
  if (!grip || event.pointerId !== grip.id) return;
  const { partition, place } = grip;
  letGo(map);
  if (place) hands.drop(partition, place);
}

/** @param {HTMLElement} map */
function letGo(map) {
  if (!grip) return;
  grip.ghost?.remove();
  grip.block.classList.remove("lifted");
  grip.over?.classList.remove("target", "refused");
  map.classList.remove("dragging");
  if (map.hasPointerCapture(grip.id)) map.releasePointerCapture(grip.id);
  grip = null;
}

/** What is said of a move.
 * @param {string} partition @param {string} place */
export const movedTo = (partition, place) => `${partition} moved to ${placeName(place)}.`;
