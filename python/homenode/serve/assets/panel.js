/** The chosen partition: where it is, what it uses, what of it may be changed. */

import { button, h } from "./dom.js";
import { homesOf } from "./homes.js";
import { colourOf, keyOf } from "./marks.js";
import { compared, number, percent, placeName, told } from "./words.js";

/** @typedef {import("./contract.js").Answer} Answer */
/** @typedef {import("./contract.js").Field} Field */
/** @typedef {import("./contract.js").Solved} Solved */
/** @typedef {import("./contract.js").Value} Value */
/** @typedef {{answer: Answer, opened: Solved | null, partition: string,
 *   refused: {path: string, value: Value, message: string} | null, stale: boolean,
 *   rough: boolean}} Shown  `rough`: causes are those of the layout before. */
/** @typedef {{change: (path: string, value: Value) => void, move: (anchor: Element) => void,
 *   close: () => void}} Acts */

/** @param {HTMLElement} place @param {Shown} shown @param {Acts} acts */
export function drawPanel(place, shown, acts) {
  const { answer, partition, stale, rough } = shown;
  const open = place.querySelector("details")?.open ?? false;
  const focus = place.contains(document.activeElement) ? document.activeElement?.id : null;
  const fields = answer.fields[partition] ?? [];
  const moves = answer.moves[partition];
  const to = button("Move to…", () => acts.move(to), {
    "aria-haspopup": "menu", id: "panel-move", disabled: !moves || !!moves.why_not,
  });
  place.replaceChildren(
    h("div", { class: "panel-head" },
      h("h2", { id: "panel-name" },
        h("span", { class: `badge ${colourOf(answer.map, partition)}`, "aria-hidden": "true" },
          keyOf(answer.map, partition)), ` ${partition}`),
      button("×", acts.close, { class: "plain", "aria-label": `Close ${partition}` })),
    h("p", { class: "where" }, "At home in ",
      homesOf(answer.map, partition).map(placeName).join(", ") || "no place of its own", " ", to),
    moves?.why_not ? h("p", { class: "hint" }, moves.why_not) : "",
    figures(shown, stale),
    ...fields.map((field) => drawField(field, shown, acts)),
    causes(answer.solved, partition, { open, class: stale || rough ? "stale" : null }) ?? "",
  );
  if (focus) document.getElementById(focus)?.focus();
}

/** @param {Shown} shown @param {boolean} stale */
function figures({ answer, opened, partition }, stale) {
  const ran = answer.solved?.partitions[partition];
  if (!ran) return h("p", { class: "hint" }, answer.unsolved ?? "");
  const before = opened?.partitions[partition];
  const unit = answer.map.unit;
  const row = (/** @type {string} */ name, /** @type {string} */ value) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return h("dl", { class: stale ? "figures stale" : "figures" },
    row(`${unit} used`, number(ran.cores, 2)),
    before && Math.abs(ran.cores - before.cores) >= 0.05
      ? row("change", compared(ran.cores, before.cores, unit)) : null,
    ran.response_ms === null ? null : row("response", `${number(ran.response_ms)} ms`),
    ran.home_share === null ? null : row("ran at home", percent(ran.home_share)),
    ran.home_share === null ? null : row("near, far", `${percent(ran.near_share)}, ${
      percent(ran.far_share)}`));
}

/** @param {Field} field @param {Shown} shown @param {Acts} acts */
function drawField(field, { refused }, acts) {
  const id = `field-${field.path.replace(/\W+/g, "-")}`;
  const wrong = refused?.path === field.path ? refused : null;
  const told = [field.why_not, bounds(field), wrong?.message].filter(Boolean);
  const input = control(field, id, wrong?.value ?? field.value, acts);
  for (const [name, value] of Object.entries({
    id, "aria-invalid": wrong ? "true" : null, "aria-describedby": told.length ? `${id}-says` : "",
  }))
    if (value) input.setAttribute(name, value);
  if (field.why_not) input.setAttribute("disabled", "");
  return h("div", { class: "field" },
    h("label", { for: id }, field.label),
    h("span", { class: "entry" }, input, field.unit ? ` ${field.unit}` : ""),
    told.length
      ? h("p", { id: `${id}-says`, class: wrong ? "hint wrong" : "hint" }, told.join(" · "))
      : null);
}

/** @param {Field} field */
function bounds({ min, max, kind }) {
  if (kind !== "number" && kind !== "integer") return null;
  if (min !== null && max !== null) return `${min} to ${max}`;
  return min !== null ? `${min} or more` : max !== null ? `up to ${max}` : null;
}

/** @param {Field} field @param {string} id @param {Value | null} value @param {Acts} acts */
function control(field, id, value, acts) {
  const { path, kind, choices } = field;
  if (kind === "choice") {
    const all = choices ?? [];
    const list = h("select", {}, ...all.map((one, at) =>
      h("option", { value: at, selected: one === value }, told(one))));
    list.addEventListener("change", () => {
      const chosen = all[Number(list.value)];
      if (chosen !== undefined) acts.change(path, chosen);
    });
    return list;
  }
  if (kind === "flag") {
    const box = h("input", { type: "checkbox", checked: value === true });
    box.addEventListener("change", () => acts.change(path, box.checked));
    return box;
  }
  const numeric = kind !== "text";
  const box = h("input", {
    type: numeric ? "number" : "text", value: value === null ? "" : String(value),
    min: field.min, max: field.max,
    step: numeric ? (field.step ?? (kind === "integer" ? 1 : "any")) : null,
  });
  box.addEventListener("change", () => {
    if (box.value.trim() !== "") acts.change(path, numeric ? Number(box.value) : box.value);
  });
  return box;
}

/** Where its cores went.
 * @param {Solved | null} solved @param {string} partition
 * @param {{open: boolean, class: string | null}} how */
function causes(solved, partition, how) {
  const all = solved?.causes[partition]?.filter((one) => Math.abs(one.cores) >= 0.005);
  if (!all?.length) return null;
  return h("details", how, h("summary", {}, "Where its cores went"),
    h("table", {}, h("tbody", {}, ...all.map(({ label, cores }) =>
      h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, number(cores, 2)))))));
}
