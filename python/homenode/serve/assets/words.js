/** How numbers and refusals are told. */

/** @typedef {import("./contract.js").Value} Value */

/** Partitions whose change is told beside that of all. */
const MOST_NAMED = 3;

/** With one or two digits, no "-0.0".
 * @param {number | null | undefined} value */
export function number(value, digits = 1) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/** The same with a plus before what is more.
 * @param {number} value */
export function signed(value, digits = 1) {
  const text = number(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

/** @param {number | null | undefined} share of 1 */
export function percent(share) {
  return share === null || share === undefined ? "–" : `${Math.round(share * 100)} %`;
}

/** @param {number} bytes */
export function bytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; bytes >= 1024 && at < units.length - 1; at++) bytes /= 1024;
  return `${Number(bytes.toFixed(bytes < 10 ? 1 : 0))} ${units[at]}`;
}

/** "4.6 cores fewer".
 * @param {number} now @param {number} before @param {string} unit */
export function compared(now, before, unit = "cores") {
  const by = now - before;
  if (Math.abs(by) < 0.05) return `as many ${unit} as when opened`;
  return `${number(Math.abs(by))} ${unit} ${by < 0 ? "fewer" : "more"}`;
}

/** Whose cores they are, those that change most first: "lpar3 −3.4, lpar4 −3.4".
 * @param {Record<string, {cores: number}>} now @param {Record<string, {cores: number}>} before */
export function byPartition(now, before) {
  const apart = Object.keys(now).flatMap((name) => {
    const was = before[name];
    const by = was ? (now[name]?.cores ?? 0) - was.cores : 0;
    return Math.abs(by) < 0.05 ? [] : [{ name, by }];
  });
  apart.sort((one, other) => Math.abs(other.by) - Math.abs(one.by));
  const told = apart.slice(0, MOST_NAMED).map(({ name, by }) => `${name} ${signed(by)}`);
  if (apart.length > MOST_NAMED) told.push(`${apart.length - MOST_NAMED} others by less`);
  return told.join(", ");
}

/** "lpar4 home book 7, lpar3 virtual processors 16": what was changed of a layout; of many the first.
 * @param {Record<string, Value | null>} edits */
export function edited(edits) {
  const all = Object.entries(edits).map(([path, value]) =>
    [whose(path), ofPath(path), value === null ? "" : told(value)].filter(Boolean).join(" "));
  const more = all.length - MOST_NAMED;
  return [...all.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** "book 5" of "book5".
 * @param {string} place */
export function placeName(place) {
  return place.replace(/([a-z])([0-9])/g, "$1 $2").replace(".", ", ");
}

/** @param {Value | null} value */
export function told(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  return value === null ? "not told" : placeName(String(value));
}

/** What stands after `partition.NAME.`, in words: `processors.virtual` is "virtual".
 * @param {string} path */
export function ofPath(path) {
  /** @type {Record<string, string>} */
  const words = { virtual: "virtual processors", smt: "threads a core (SMT)", rate: "load" };
  const last = path.split(".").pop() ?? path;
  return words[last] ?? last.replaceAll("_", " ");
}

/** The partition that a path speaks of; names with dots stand in quotes.
 * @param {string} path */
export function whose(path) {
  const found = /^partition\.(?:"([^"]+)"|([^.]+))\./.exec(path);
  return found ? (found[1] ?? found[2] ?? null) : null;
}
