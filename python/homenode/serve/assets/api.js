/** The server's doors. A refusal is a `Refusal` in the server's words. */

/** @typedef {import("./contract.js").Layout} Layout */

/** What the server would not do, or that it isn't there. */
export class Refusal extends Error {
  /** @param {{message: string, next_step?: string | null, where?: string | null}} told
   * @param {"refused" | "busy" | "lost" | "late"} kind */
  constructor(told, kind) {
    super(told.message);
    this.kind = kind;
    this.next = told.next_step ?? null;
    this.where = told.where ?? null;
  }
}

const LOST = {
  message: "The server of this page does not answer.",
  next_step: "See whether homenode serve is still running; the page goes on when it is back.",
};
const BUSY = { message: "The server is busy.", next_step: "Try again in a moment." };

/** @type {() => void} */
let lost = () => {};
/** Who hears that the server is gone.
 * @param {() => void} hear */
export function onLost(hear) {
  lost = hear;
}

/**
 * Ask; a busy server once more, after the time that it names, and where another window of the
 * same reader was served instead.
 * @param {string} path @param {RequestInit} [how] @returns {Promise<Response>}
 */
async function ask(path, how = {}, again = true) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...how });
  } catch (error) {
    if (how.signal?.aborted) throw new Refusal({ message: "overtaken" }, "late");
    lost();
    throw new Refusal(LOST, "lost");
  }
  if (answer.ok) return answer;
  const late = answer.status === 409;
  const busy = answer.status === 503 || answer.status === 429;
  if ((busy || late) && again) {
    const seconds = late ? 0.3 : Number(answer.headers.get("Retry-After") ?? 1);
    await new Promise((go) => setTimeout(go, 1000 * Math.min(Math.max(seconds, 0.2), 10)));
    if (how.signal?.aborted) throw new Refusal({ message: "overtaken" }, "late");
    return ask(path, how, false);
  }
  const told = await refusal(answer);
  throw new Refusal(told ?? (busy ? BUSY : { message: `The server says ${answer.status}.` }),
    late ? "late" : busy ? "busy" : "refused");
}

/** @param {Response} answer */
async function refusal(answer) {
  try {
    return (await answer.json()).error ?? null;
  } catch {
    return null;
  }
}

/** @template T @param {string} path @returns {Promise<T>} */
export async function get(path) {
  return (await ask(path)).json();
}

/** @template T @param {string} path @param {object} body @param {AbortSignal} [signal]
 * @returns {Promise<T>} */
export async function post(path, body, signal) {
  return (await ask(path, asJson(body, signal))).json();
}

/** @param {object} body @param {AbortSignal} [signal] @returns {RequestInit} */
function asJson(body, signal) {
  const headers = { "Content-Type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body), signal };
}

/** @template T @param {string} path @param {Blob} file @param {Record<string, string>} headers
 * @returns {Promise<T>} */
export async function send(path, file, headers) {
  return (await ask(path, { method: "POST", headers, body: file })).json();
}

/** @param {string} path */
export async function remove(path) {
  await ask(path, { method: "DELETE" });
}

/** Fetch a file and hand it to the browser.
 * @param {Layout} layout @param {string} what */
export async function download(layout, what) {
  const answer = await ask("/api/download", asJson({ ...layout, what }));
  const named = /filename="?([^";]+)/.exec(answer.headers.get("Content-Disposition") ?? "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = named?.[1] ?? what;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Whether the server is back. */
export async function answers() {
  try {
    return (await fetch("/api/start", { credentials: "same-origin" })).ok;
  } catch {
    return false;
  }
}
