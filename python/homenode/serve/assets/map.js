/**
 * The machine as a drawing: nodes with their chips and cores, each partition a block at home.
 *
 * Colour never stands alone: a block has its letter, its name and an outline, so it reads in grey.
 */

import { moves as mayMove, s } from "./dom.js";
import { capacityOf, lodgers } from "./homes.js";
import { SMALL, colourOf, cut, keyOf } from "./marks.js";
import { bytes, number, percent, placeName } from "./words.js";

/** @typedef {import("./contract.js").MachineMap} MachineMap */
/** @typedef {import("./contract.js").NodeMap} NodeMap */
/** @typedef {import("./contract.js").ChipMap} ChipMap */
/** @typedef {import("./contract.js").Solved} Solved */
/** @typedef {import("./homes.js").Lodger} Lodger */
/** @typedef {{map: MachineMap, solved: Solved | null, chosen?: string | null,
 *   still?: boolean, name?: string}} Scene  `still`: to look at only. */
/** @typedef {{scene: Scene, width: number, node: NodeMap, who: Lodger[], wide: number}} At */

const GAP = 10, PAD = 8, HEAD = 44, NARROWEST = 166, WIDEST = 330, CORE = 8;
const TALL = 46, FLAT = 28, CROWD = 10;

/** Draw into a place, instead of what was there; blocks glide from where they were.
 * @param {Element} place @param {Scene} scene */
export function drawMap(place, scene) {
  const before = mayMove() && !scene.still ? corners(place) : null;
  const was = place.querySelector("svg")?.getAttribute("width");
  const focus = document.activeElement?.closest("[data-partition]");
  const kept = focus && place.contains(focus) ? focus.getAttribute("data-partition") : null;
  place.replaceChildren(drawing(scene, Math.max(place.clientWidth, 300)));
  if (kept !== null) blockOf(place, kept)?.focus();
  const wide = place.querySelector("svg")?.getAttribute("width");
  if (before && was === wide) glide(place, before);
}

/** @param {Element} place @param {string} partition @returns {SVGGElement | null} */
export function blockOf(place, partition) {
  return place.querySelector(`[data-partition="${CSS.escape(partition)}"]`);
}

/** Where blocks are, those that glide on their way.
 * @param {Element} place */
function corners(place) {
  const found = new Map();
  for (const block of place.querySelectorAll("[data-partition], [data-gliding]")) {
    const gliding = block.getAttribute("data-gliding");
    const name = gliding ?? block.getAttribute("data-partition");
    if (gliding || !found.has(name)) found.set(name, block.getBoundingClientRect());
  }
  return found;
}

/** A likeness of a block goes there over all nodes; the block is seen once it has come.
 * @param {Element} place @param {Map<string | null, DOMRect>} before */
function glide(place, before) {
  const timing = { duration: 260, easing: "ease-out" };
  for (const block of place.querySelectorAll("[data-partition]")) {
    const name = block.getAttribute("data-partition") ?? "";
    const from = before.get(name), to = block.getBoundingClientRect();
    if (!from || (Math.abs(from.x - to.x) < 2 && Math.abs(from.y - to.y) < 2)) continue;
    const likeness = /** @type {SVGGElement} */ (block.cloneNode(true));
    for (const { name: key } of [...likeness.attributes])
      if (key !== "class") likeness.removeAttribute(key);
    const { e, f } = /** @type {SVGGElement} */ (block).getCTM() ?? { e: 0, f: 0 };
    likeness.setAttribute("transform", `translate(${e} ${f})`);
    likeness.setAttribute("aria-hidden", "true");
    likeness.setAttribute("data-gliding", name);
    place.querySelector("svg")?.append(likeness);
    block.animate([{ opacity: 0 }, { opacity: 0 }], timing);
    // Beside its transform, which says where it comes to.
    const start = `${from.x - to.x}px ${from.y - to.y}px`;
    likeness.animate([{ translate: start }, { translate: "0px 0px" }], timing)
      .addEventListener("finish", () => likeness.remove());
  }
}

/** @param {Scene} scene @param {number} width */
function drawing(scene, width) {
  const { map, solved } = scene;
  const shown = map.nodes.map((node, at) => ({ node, at })).filter(({ node }) => node.active);
  const fits = Math.floor((width + GAP) / (NARROWEST + GAP));
  const columns = Math.max(1, Math.min(fits, shown.length > 4 ? 4 : shown.length));
  const wide = Math.min((width + GAP) / columns - GAP, shown.length > 2 ? WIDEST : 2 * WIDEST);
  const who = lodgers(map, solved);
  const svg = s("svg", { class: "machine" }, ...naming(scene));
  let y = 0;
  for (let first = 0; first < shown.length; first += columns) {
    const row = shown.slice(first, first + columns).map(({ node, at }) => {
      const of = { scene, width, node, who: who[at] ?? [], wide };
      return { of, tall: height(of) };
    });
    const tall = Math.max(...row.map((one) => one.tall));
    row.forEach((one, column) => svg.append(drawNode(one.of, column * (wide + GAP), y, tall)));
    y += tall + GAP;
  }
  for (const [name, value] of Object.entries({
    width, height: y, viewBox: `0 0 ${width} ${y}`, role: scene.still ? "img" : "group",
    "aria-label": scene.name ?? `${map.title}: who is at home where`,
  }))
    svg.setAttribute(name, String(value));
  return svg;
}

/** @param {Scene} scene */
function naming({ map, solved, still, name }) {
  const used = solved ? `${number(solved.cores)} of ${number(map.capacity, 0)} ${map.unit}. ` : "";
  const how = still ? "" : "A partition is moved by dragging it, or from its menu. ";
  const told = `${used}${how}The table below says the same.`;
  return [s("title", {}, name ?? `${map.title}: who is at home where`), s("desc", {}, told)];
}

/** @param {At} of */
function blocksAt(of) {
  const many = of.who.length > CROWD || of.scene.map.partitions.length > 24;
  const columns = Math.max(1, Math.floor((of.wide - 2 * PAD) / (many ? 120 : 150)));
  const home = of.who.filter((one) => one.share > 0);
  return { home, columns, tall: many ? FLAT : TALL, rows: Math.ceil(home.length / columns) };
}

/** Width and rows of a chip: two rows of cores from five on.
 * @param {ChipMap} chip */
function chipSize(chip) {
  const rows = chip.cores.length > 4 ? 2 : 1;
  const columns = Math.ceil(chip.cores.length / rows);
  return { columns, wide: columns * CORE + 5, tall: rows * CORE + 5 };
}

/** Where each chip stands below the head, in lines that break.
 * @param {At} of */
function chipPlaces(of) {
  let x = PAD, y = HEAD, line = 0;
  const places = of.node.chips.map((chip) => {
    const { wide, tall } = chipSize(chip);
    if (x + wide > of.wide - PAD && x > PAD) (x = PAD), (y += line + 4), (line = 0);
    const here = { x, y };
    x += wide + 4;
    line = Math.max(line, tall);
    return here;
  });
  return { places, end: y + line + 6 };
}

/** @param {At} of */
function height(of) {
  const { rows, tall } = blocksAt(of);
  const beside = of.who.some((one) => one.share === 0) ? 16 : 0;
  return chipPlaces(of).end + Math.max(rows, 1) * (tall + 4) + beside + PAD;
}

/** @param {At} of @param {number} x @param {number} y @param {number} tall */
function drawNode(of, x, y, tall) {
  const { node, scene, wide } = of;
  const most = capacityOf(scene.map, node);
  const { told, over, says } = filling(of, most);
  const name = placeName(node.place);
  const { places, end } = chipPlaces(of);
  const box = s("g", {
    class: over ? "node over" : "node", transform: `translate(${x} ${y})`,
    "data-place": node.place, role: scene.still ? null : "group",
    "aria-label": scene.still ? null : `${name}: ${says}`,
  });
  box.append(
    s("rect", { class: "box", width: wide, height: tall, rx: 6 }),
    s("text", { class: "name", x: PAD, y: 19 }, name),
    s("text", { class: "used", x: wide - PAD, y: 19, "text-anchor": "end" }, told),
    bar(of, most),
    ...node.chips.map((chip, at) => drawChip(of, chip, places[at] ?? { x: PAD, y: HEAD })),
    ...drawBlocks(of, end),
  );
  const alone = of.who.filter((one) => one.share === 0);
  if (alone.length) {
    const keys = alone.map((one) => `${keyOf(scene.map, one.partition)} ${bytes(one.memory)}`);
    box.append(s("text", { class: "small", x: PAD, y: tall - PAD },
      cut(`memory: ${keys.join(", ")}`, wide - 2 * PAD, SMALL)));
  }
  return box;
}

/** How full a node is, in words: by what those at home there use, of a run by what was used.
 * @param {At} of @param {number} most */
function filling({ node, who, scene, wide }, most) {
  const unit = scene.map.unit;
  const known = who.filter((one) => one.cores !== null);
  const cores = node.used ?? known.reduce((sum, one) => sum + (one.cores ?? 0), 0);
  if (node.used === null && !scene.solved)
    return { told: `${number(most, 0)} ${unit}`, says: `${number(most, 0)} ${unit}`, over: false };
  const over = cores > most + 0.05;
  const told = `${number(cores)} of ${number(most, 0)}`;
  const left = over ? `${number(cores - most)} too many` : `${number(most - cores)} free`;
  const short = over && wide > 190 ? `${told}: full` : told;
  return { told: short, over, says: `${told} ${unit}, ${left}` };
}

/** @param {At} of @param {number} most */
function bar({ scene, who, node, wide }, most) {
  const long = wide - 2 * PAD;
  const all = node.used ?? who.reduce((sum, one) => sum + (one.cores ?? 0), 0);
  const scale = long / Math.max(most, all, 1e-9);
  const group = s("g", { class: "bar", transform: `translate(${PAD} 26)` });
  group.append(s("rect", { class: "ground", width: most * scale, height: 10 }));
  let x = 0;
  for (const one of node.used === null ? who : []) {
    const width = (one.cores ?? 0) * scale;
    group.append(s("rect", {
      class: `part ${colourOf(scene.map, one.partition)}`, x, width, height: 10,
    }));
    x += width;
  }
  if (node.used !== null)
    group.append(s("rect", { class: "part ran", width: node.used * scale, height: 10 }));
  if (all > most) group.append(s("path", { class: "limit", d: `M${most * scale} -3v16` }));
  return group;
}

/** @param {At} of @param {ChipMap} chip @param {{x: number, y: number}} at */
function drawChip({ scene, node }, chip, at) {
  const { columns, wide, tall } = chipSize(chip);
  const group = s("g", {
    class: "chip", transform: `translate(${at.x} ${at.y})`,
    "data-place": `${node.place}.${chip.place}`,
  });
  group.append(s("rect", { class: "die", width: wide, height: tall, rx: 2 }));
  [...chip.cores].forEach((mark, core) => {
    const owner = scene.map.partitions.find((one) => one.key === mark);
    const kind = owner ? colourOf(scene.map, owner.partition) : mark === "-" ? "off" : "open";
    group.append(s("rect", {
      class: `core ${kind}`, width: CORE - 2, height: CORE - 2,
      x: 3.5 + (core % columns) * CORE, y: 3.5 + Math.floor(core / columns) * CORE,
    }));
  });
  return group;
}

/** @param {At} of @param {number} top */
function drawBlocks(of, top) {
  const { home, columns, tall } = blocksAt(of);
  const wide = (of.wide - 2 * PAD + 4) / columns - 4;
  if (!home.length) {
    const free = `${number(capacityOf(of.scene.map, of.node) - of.node.dedicated, 0)} free`;
    return [s("text", { class: "small", x: PAD, y: top + 18 }, `nobody, ${free}`)];
  }
  return home.map((one, at) => {
    const x = PAD + (at % columns) * (wide + 4);
    const y = top + Math.floor(at / columns) * (tall + 4);
    return drawBlock(of, one, { x, y, wide, tall });
  });
}

/** @param {At} of @param {Lodger} one @param {{x: number, y: number, wide: number,
 *   tall: number}} size */
function drawBlock({ scene, node }, one, { x, y, wide, tall }) {
  const { map, solved, chosen } = scene;
  const ran = solved?.partitions[one.partition];
  const much = one.cores === null ? "" : `${number(one.cores)} ${map.unit}`;
  const second = [much, one.memory ? bytes(one.memory) : ""].filter(Boolean).join(" · ");
  const says = [one.partition, `at home in ${placeName(node.place)}`, second]
    .concat(ran ? [`near home ${percent(ran.near_share)}, far ${percent(ran.far_share)}`] : []);
  const block = s("g", {
    class: `block${chosen === one.partition ? " chosen" : ""}`, transform: `translate(${x} ${y})`,
    "data-partition": scene.still ? null : one.partition, role: scene.still ? null : "button",
    tabindex: scene.still ? null : 0, "aria-haspopup": scene.still ? null : "menu",
    "aria-label": scene.still ? null : says.join(", "),
  });
  const room = wide - 34, middle = tall === FLAT ? 18 : 17;
  block.append(
    s("title", {}, says.join(", ")),
    s("rect", { class: "body", width: wide, height: tall, rx: 4 }),
    s("rect", { class: `grip ${colourOf(map, one.partition)}`, width: 26, height: tall, rx: 4 }),
    s("text", { class: `key ${colourOf(map, one.partition)}`, x: 13, y: tall / 2 + 5,
      "text-anchor": "middle" }, keyOf(map, one.partition)),
    s("text", { class: "who", x: 32, y: middle }, cut(one.partition, room)),
  );
  if (tall !== FLAT)
    block.append(s("text", { class: "small", x: 32, y: 32 }, cut(second, room, SMALL)));
  if (ran?.home_share !== null && ran) block.append(...nearness(ran, 32, tall - 7, wide - 38));
  return block;
}

/** Where it ran: at home full, near home half, far from home hollow.
 * @param {import("./contract.js").Part} ran @param {number} x @param {number} y
 * @param {number} long */
function nearness(ran, x, y, long) {
  const shares = { home: ran.home_share, near: ran.near_share, far: ran.far_share };
  return Object.entries(shares).map(([kind, share]) => {
    const width = (share ?? 0) * long;
    const mark = s("rect", { class: `ran-${kind}`, x, y, width, height: 4 });
    x += width;
    return mark;
  });
}
