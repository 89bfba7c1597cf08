import { isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import { nodeCrypto } from "../../base/crypto.ts";
import { backoffMs } from "../../base/turns/backoff.ts";
import { pause } from "../../base/turns/until-aborted.ts";
import type { PendingApproval } from "../aegis.ts";
import type { AuditedArguments } from "../audit.port.ts";
import { outsideCalls } from "../egress/domain-bound.ts";
import type { Egress } from "../egress/egress.ts";
import { visibleText } from "../../errors/visible-text.ts";

/** Notifies a webhook of each call that waits for approval. */
export type ApprovalWebhook = ReturnType<typeof createApprovalWebhook>;

export interface ApprovalWebhookOptions {
  readonly url: URL;
  /** Signs requests. If omitted, requests are unsigned. */
  readonly secret?: (() => Promise<string>) | undefined;
  readonly find: (id: string) => Promise<PendingApproval | undefined>;
  /** Describes a call's arguments for the webhook. */
  readonly describe: (args: Readonly<Record<string, unknown>>) => AuditedArguments;
  readonly egress: Pick<Egress, "fork">;
  readonly clock: Clock;
  /** Called for failed deliveries. */
  readonly emit: Emit;
}

/** The attempts at one delivery, and the delays between them. */
const ATTEMPTS = 4;
const BACKOFF = { firstMs: 1_000, factor: 4 };
const ATTEMPT_MS = 10_000;
/** The most concurrent deliveries. A hanging receiver must not fill the memory. */
const MAX_UNDER_WAY = 100;
const CLOSE_MS = 2_000;

const TIMESTAMP_HEADER = "x-toolarsenal-timestamp";
const SIGNATURE_HEADER = "x-toolarsenal-signature";

interface Failure {
  readonly message: string;
  readonly passing: boolean;
}

export function createApprovalWebhook(options: ApprovalWebhookOptions) {
  const { url, secret, find, describe, clock, emit } = options;
  const egress = options.egress.fork();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  const ended = new AbortController();

  async function deliver({ id, toolId }: EventMap["confirmation-requested"]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const failure = await attemptAt(id);
      if (failure === undefined) return;
      if (!failure.passing || attempt === ATTEMPTS || closing.signal.aborted)
        return fail(id, toolId, `${failure.message} (attempt ${attempt} of ${ATTEMPTS})`);
      const delayMs = backoffMs(attempt - 1, BACKOFF);
      await pause(delayMs, clock, { signal: closing.signal, background: true }).catch(() => {});
      if (closing.signal.aborted) return fail(id, toolId, `${failure.message} (attempt ${attempt}, then closed)`);
    }
  }

  /** Undefined if the webhook was notified, or the call no longer waits. */
  async function attemptAt(id: string): Promise<Failure | undefined> {
    const timeout = new AbortController();
    const cancel = clock.after(ATTEMPT_MS, () => timeout.abort(), { background: true });
    const signal = AbortSignal.any([timeout.signal, ended.signal]);
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("it was given up")));
    });
    try {
      return await Promise.race([send(id, signal), stopped]);
    } catch (error) {
      if (timeout.signal.aborted) return { message: `no answer within ${ATTEMPT_MS / 1_000} s`, passing: true };
      const final = isArsenalError(error) && (error.code === "PERMISSION_DENIED" || error.code === "CONFIG_INVALID");
      return { message: messageOf(error), passing: !final };
    } finally {
      cancel();
    }
  }

  async function send(id: string, signal: AbortSignal): Promise<Failure | undefined> {
    const approval = await find(id);
    if (approval?.state !== "pending") return undefined;
    const { toolId, requestedBy, reason, requestedAt, expiresAt } = approval;
    const told = { id, toolId, arguments: describe(approval.arguments), requestedBy, reason, requestedAt, expiresAt };
    const body = visibleText(JSON.stringify(told));
    const headers = await headersOf(body);
    const sent = { method: "POST", headers, body, signal, trusted: true, maxRedirects: 0 };
    const response = await egress.request(url, sent);
    // The body is ignored; reading it lets the connection be reused.
    response.body.on("error", () => {}).resume();
    const { status } = response;
    if (status < 300) return undefined;
    return { message: `it answered ${status}`, passing: status === 408 || status === 429 || status >= 500 };
  }

  async function headersOf(body: string): Promise<Record<string, string>> {
    const timestamp = String(Math.floor(clock.now() / 1_000));
    const headers = { "content-type": "application/json", [TIMESTAMP_HEADER]: timestamp };
    if (secret === undefined) return headers;
    // The time is signed too, to prevent replays.
    const signature = nodeCrypto()
      .createHmac("sha256", await secret())
      .update(`${timestamp}.${body}`)
      .digest("hex");
    return { ...headers, [SIGNATURE_HEADER]: `sha256=${signature}` };
  }

  function fail(id: string, toolId: string, why: string): void {
    // The path of such a URL is often the secret itself, and the error of a refused request contains it.
    const shown = url.pathname === "/" ? why : why.replaceAll(url.pathname, "/…");
    const message = `The approval webhook at ${url.host} was not notified that ${toolId} waits as ${id}: ${shown}.`;
    emit("sink-failed", { sink: "approval-webhook", message, dropped: 1 });
  }

  function start(event: EventMap["confirmation-requested"]): void {
    if (closing.signal.aborted) return;
    if (underWay.size >= MAX_UNDER_WAY) return fail(event.id, event.toolId, "too many others are under way");
    const delivery = outsideCalls(() => deliver(event)).finally(() => underWay.delete(delivery));
    underWay.add(delivery);
  }

  return {
    /** Wraps `emit` to also notify the webhook, without waiting for it. */
    watching(next: Emit): Emit {
      return (name, data) => {
        next(name, data);
        if (name === "confirmation-requested") start(data as EventMap["confirmation-requested"]);
      };
    },
    /** Cancels pending retries, and lets running deliveries finish briefly. */
    async close(): Promise<void> {
      closing.abort();
      const cancel = clock.after(CLOSE_MS, () => ended.abort());
      await Promise.all(underWay);
      cancel();
      egress.close();
    },
  };
}
