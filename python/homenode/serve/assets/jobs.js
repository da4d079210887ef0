/** Work that takes a while: started, followed over server-sent events, cancelled. */

import { Refusal, answers, post, remove } from "./api.js";
import { announce, at, button, h } from "./dom.js";
import { notice } from "./notice.js";

/** `early` hears what of the result is there before its end, `stopped` that no more comes.
 * @typedef {{title: string, done: (result: any) => void, early?: (part: any) => void,
 *   stopped?: () => void}} Work */

/** Start a job; what goes wrong is told where all is told.
 * @param {Work} work @param {() => Promise<{job: string}>} begin */
export async function start(work, begin) {
  try {
    follow(work, (await begin()).job);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.kind !== "lost") notice(error, [["Try again", () => start(work, begin)]]);
  }
}

/** @param {Work} work @param {string} path @param {object} body */
export const startAt = (work, path, body) => start(work, () => post(path, body));

/** @param {Work} work @param {string} job */
function follow(work, job) {
  const bar = h("progress", { max: 1, "aria-label": work.title });
  const says = h("span", { class: "says" }, "waiting for its turn");
  const stop = button("Cancel", () => {
    stop.disabled = true;
    remove(`/api/jobs/${job}`).catch(() => {});
  });
  const card = h("div", { class: "job", role: "group", "aria-label": work.title },
    h("strong", {}, work.title), bar, says, stop);
  at("jobs").append(card);
  announce(`${work.title} started.`);

  const events = new EventSource(`/api/jobs/${job}/events`);
  const end = (/** @type {string} */ words) => {
    events.close();
    card.remove();
    announce(`${work.title} ${words}.`);
  };
  const on = (/** @type {string} */ kind, /** @type {(told: any) => void} */ act) =>
    events.addEventListener(kind, (event) => act(read(event)));
  on("progress", (told) => {
    if (typeof told.done === "number") bar.value = told.done;
    says.textContent = told.says ?? "";
  });
  on("early", (told) => work.early?.(told));
  on("done", (told) => (end("is done"), work.done(told.result)));
  on("cancelled", () => (end("was cancelled"), work.stopped?.()));
  on("failed", ({ error }) => {
    end("failed");
    work.stopped?.();
    notice({ message: error.message, next: error.next_step, where: error.where }, []);
  });
  events.onerror = async () => {
    says.textContent = "the server does not answer; waiting for it";
    if (events.readyState === EventSource.CLOSED && (await answers())) {
      end("is lost");
      work.stopped?.();
      notice({ message: `${work.title}: the server no longer knows of it.`,
        next: "It was started anew since; begin again." }, []);
    }
  };
}

/** @param {Event} event */
function read(event) {
  const { data } = /** @type {MessageEvent} */ (event);
  return data ? JSON.parse(data) : {};
}
