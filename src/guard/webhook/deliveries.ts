import { isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { visibleText } from "../../errors/visible-text.ts";
import { nodeCrypto } from "../../base/crypto.ts";
import { backoffMs } from "../../base/turns/backoff.ts";
import { pause } from "../../base/turns/until-aborted.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import { outsideCalls } from "../egress/domain-bound.ts";
import type { Egress } from "../egress/egress.ts";

export interface Delivery {
  readonly url: URL;
  /** The subject, for messages: `that mail.send waits as 7f3a`. */
  readonly what: string;
  /** True if the address comes from the configuration. It may then be on a private network. */
  readonly trusted: boolean;
  /** Returns the body for JSON; undefined if the notification is no longer needed. */
  body(): Promise<object | undefined>;
}

export interface DeliveryOptions {
  /** The name in messages and events: `approval-webhook`. */
  readonly name: string;
  readonly secret?: (() => Promise<string>) | undefined;
  readonly egress: Pick<Egress, "fork">;
  readonly clock: Clock;
  /** Receives an event for each failed delivery. */
  readonly emit: Emit;
}

/** The number of attempts at one delivery, and the delays between them. */
const ATTEMPTS = 4;
const BACKOFF = { firstMs: 1_000, factor: 4 };
const ATTEMPT_MS = 10_000;
/** The maximum number of concurrent deliveries, so that a hanging receiver cannot exhaust memory. */
const MAX_UNDER_WAY = 100;
const CLOSE_MS = 2_000;

const TIMESTAMP_HEADER = "x-toolarsenal-timestamp";
const SIGNATURE_HEADER = "x-toolarsenal-signature";

interface Failure {
  readonly message: string;
  readonly passing: boolean;
}

/** Delivers signed notifications to webhooks, and retries temporary failures. */
export function createDeliveries(options: DeliveryOptions) {
  const { name, secret, clock, emit } = options;
  const egress = options.egress.fork();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  const ended = new AbortController();

  async function deliver(delivery: Delivery): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const failure = await attemptAt(delivery);
      if (failure === undefined) return;
      if (!failure.passing || attempt === ATTEMPTS || closing.signal.aborted)
        return fail(delivery, `${failure.message} (attempt ${attempt} of ${ATTEMPTS})`);
      const delayMs = backoffMs(attempt - 1, BACKOFF);
      await pause(delayMs, clock, { signal: closing.signal, background: true }).catch(() => {});
      if (closing.signal.aborted) return fail(delivery, `${failure.message} (attempt ${attempt}, then closed)`);
    }
  }

  /** Attempts one delivery. Returns undefined if it succeeded, or is no longer needed. */
  async function attemptAt(delivery: Delivery): Promise<Failure | undefined> {
    const timeout = new AbortController();
    const cancel = clock.after(ATTEMPT_MS, () => timeout.abort(), { background: true });
    const signal = AbortSignal.any([timeout.signal, ended.signal]);
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("the delivery was cancelled")));
    });
    try {
      return await Promise.race([send(delivery, signal), stopped]);
    } catch (error) {
      if (timeout.signal.aborted) return { message: `no answer within ${ATTEMPT_MS / 1_000} s`, passing: true };
      const final = isArsenalError(error) && (error.code === "PERMISSION_DENIED" || error.code === "CONFIG_INVALID");
      return { message: messageOf(error), passing: !final };
    } finally {
      cancel();
    }
  }

  async function send({ url, trusted, body: describe }: Delivery, signal: AbortSignal): Promise<Failure | undefined> {
    const told = await describe();
    if (told === undefined) return undefined;
    const body = visibleText(JSON.stringify(told));
    const headers = await headersOf(body);
    const response = await egress.request(url, { method: "POST", headers, body, signal, trusted, maxRedirects: 0 });
    // Reads the body and ignores it, so that the connection can be reused.
    response.body.on("error", () => {}).resume();
    const { status } = response;
    if (status < 300) return undefined;
    return { message: `it answered ${status}`, passing: status === 408 || status === 429 || status >= 500 };
  }

  async function headersOf(body: string): Promise<Record<string, string>> {
    const timestamp = String(Math.floor(clock.now() / 1_000));
    const headers = { "content-type": "application/json", [TIMESTAMP_HEADER]: timestamp };
    if (secret === undefined) return headers;
    // The signature covers the time, to prevent replays.
    const signature = nodeCrypto()
      .createHmac("sha256", await secret())
      .update(`${timestamp}.${body}`)
      .digest("hex");
    return { ...headers, [SIGNATURE_HEADER]: `sha256=${signature}` };
  }

  function fail({ url, what }: Delivery, why: string): void {
    // The path of a webhook URL is often the secret itself, and the error of a refused request contains the path.
    const shown = url.pathname === "/" ? why : why.replaceAll(url.pathname, "/…");
    const message = `The ${name.replace("-", " ")} at ${url.host} was not notified ${what}: ${shown}.`;
    emit("sink-failed", { sink: name, message, dropped: 1 });
  }

  return {
    start(delivery: Delivery): void {
      if (closing.signal.aborted) return;
      if (underWay.size >= MAX_UNDER_WAY) return fail(delivery, "too many other deliveries are running");
      const delivering = outsideCalls(() => deliver(delivery)).finally(() => underWay.delete(delivering));
      underWay.add(delivering);
    },
    /** Cancels pending retries, and gives running deliveries a short time to finish. */
    async close(): Promise<void> {
      closing.abort();
      const cancel = clock.after(CLOSE_MS, () => ended.abort());
      await Promise.all(underWay);
      cancel();
      egress.close();
    },
  };
}
