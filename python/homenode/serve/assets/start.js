/** The first screen: what this is, layouts to open, files to drop. */

import { Refusal, get, post, send } from "./api.js";
import { limitSearch } from "./advise.js";
import { arrived, here } from "./arrival.js";
import { renewed } from "./board.js";
import { at, button, h } from "./dom.js";
import { start as startJob } from "./jobs.js";
import { keptRuns } from "./kept.js";
import { notice } from "./notice.js";
import * as state from "./state.js";
import { grid } from "./told.js";
import { bytes } from "./words.js";

/** @typedef {import("./contract.js").Start} Start */
/** @typedef {import("./contract.js").Imported} Imported */

/** @type {Start["limits"] | null} */
let limits = null;

/** Draw what the server offers. */
export async function showStart() {
  try {
    const told = /** @type {Start} */ (await get("/api/start"));
    limits = told.limits;
    limitSearch(told.limits.advise_s);
    at("version").textContent = told.version;
    at("private").textContent = told.local
      ? "Nothing leaves this machine: the page and its server are both on it."
      : "What you open stays on the server that you started; it goes nowhere else.";
    at("examples").replaceChildren(...told.examples.map(example));
    at("kept").replaceChildren(...kept(told));
    at("most").textContent = `Up to ${told.limits.files} files, ${
      bytes(told.limits.upload_bytes)} each.`;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.kind !== "lost") notice(error, [["Try again", showStart]]);
  }
}

/** @param {Start["examples"][number]} one @param {number} index */
function example({ name, title, platform }, index) {
  const open = button(title || name, () => openBase(`example:${name}`),
    { class: index ? "card" : "card first" });
  open.append(h("small", {}, `${platform}${index ? "" : " · begin here"}`));
  return h("li", {}, open);
}

/** @param {Start} told */
function kept(told) {
  const mine = told.scenarios.map((one) => h("li", {}, button(one.title || one.name,
    () => openBase(`scenario:${one.id}`), { class: "plain" })));
  return [
    mine.length ? h("h2", {}, "Your files of this session") : "",
    mine.length ? h("ul", {}, ...mine) : "",
    h("h2", {}, "Kept runs"),
    keptRuns(told),
  ];
}

/** @param {string} base */
const openBase = (base) => state.open({ base, edits: {} });

/** Files may be dropped anywhere on the page, or chosen. */
export function beginFiles() {
  const input = /** @type {HTMLInputElement} */ (at("files"));
  input.addEventListener("change", () => {
    take([...(input.files ?? [])]);
    input.value = "";
  });
  const carries = (/** @type {DragEvent} */ event) =>
    event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    document.body.classList.remove("dropping");
    take([...(event.dataTransfer?.files ?? [])]);
  });
}

/** A scenario is opened; anything else is a recording.
 * @param {File[]} files */
async function take(files) {
  const first = files[0];
  if (!first) return;
  const trouble = tooMuch(files);
  if (trouble) return notice(trouble, []);
  try {
    if (files.length === 1 && first.name.endsWith(".toml")) {
      const type = { "Content-Type": "application/toml", "X-Name": encodeURIComponent(first.name) };
      const { scenario } = await send("/api/upload", first, type);
      openBase(`scenario:${scenario}`);
    } else await recordings(files);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.kind !== "lost") notice(error, []);
  }
}

/** @param {File[]} files */
function tooMuch(files) {
  const most = limits;
  if (!most) return null;
  const big = files.find((file) => file.size > most.upload_bytes);
  if (big)
    return { message: `${big.name} has ${bytes(big.size)}, the most is ${
      bytes(most.upload_bytes)}.`, next: "Take a shorter recording, or use homenode import." };
  return files.length <= most.files ? null : {
    message: `${files.length} files, the most is ${most.files}.`,
    next: "Drop an archive of them, or use homenode import." };
}

/** @param {File[]} files */
async function recordings(files) {
  let batch = "";
  for (const file of files) {
    const query = batch ? `?batch=${encodeURIComponent(batch)}` : "";
    const headers = { "Content-Type": "application/octet-stream",
      "X-Name": encodeURIComponent(file.name) };
    batch = (await send(`/api/recordings${query}`, file, headers)).batch;
  }
  let seen = false;
  const from = here();
  const come = () => arrived(from, "The recordings are read.", "Show what they gave", () => {
    state.look("start");
    at("imported-head").focus();
  });
  await startJob({
    title: "Reading recordings",
    early: (told) => ((seen = true), showImported(told, UNPLAYED), come()),
    stopped: () => { if (seen) at("imported-state").textContent = STOPPED; },
    done: (told) => {
      showImported(told, "");
      if (seen) renewed(`scenario:${told.scenario}`);
      else come();
    },
  }, () => post("/api/import", { batch }));
}

const UNPLAYED = "Read. The work behind what was recorded is being found by playing every window; " +
  "until then its figures are some per cent off. The layout can be opened already, and takes the " +
  "better ones when they are there.";
const STOPPED = "The windows were not played to their end: figures of the layout are some per " +
  "cent off what was recorded. Bring the files again to have them played.";

/** What recordings gave, what they lack, what was assumed, and how far it is.
 * @param {Imported} told @param {string} state */
function showImported(told, state) {
  const place = at("imported");
  place.replaceChildren(
    h("h2", { tabindex: -1, id: "imported-head" }, "What the recordings gave"),
    h("p", { id: "imported-state" }, state),
    button("Open the layout", () => openBase(`scenario:${told.scenario}`), { class: "main" }),
    h("h3", {}, "Gaps"),
    told.gaps.length
      ? grid({ title: "When nothing was recorded", heads: ["partition", "from", "to"],
        rows: told.gaps.map((gap) => [gap.what, gap.from, gap.to]) })
      : h("p", {}, "None."),
    h("h3", {}, "What was assumed, and what to know"),
    told.assumed.length ? h("ul", {}, ...told.assumed.map((one) => h("li", {}, one)))
      : h("p", {}, "Nothing."),
    ...told.tables.map(grid),
  );
  place.hidden = false;
}
