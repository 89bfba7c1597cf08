import { randomBytes, randomUUID } from "node:crypto";
import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { type JsonObject, RPC, RpcError, type RpcErrorBody } from "../mcp/protocol.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { createLookout } from "../state/lookout.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { State } from "../state/state.port.ts";
import { errorBody } from "./mcp/plane.ts";
import { createSeal, type SealBinding } from "./mcp/modern/seal.ts";

/** The part of the shared state with which processes behind one address act as one. */
export type ReplicaState = Pick<SharedState, "documents" | "changes" | "leases">;

/** Answers a request from another process. `note` sends a message before the answer. The signal fires when the other process gives up. */
export type ReplicaHandler = (
  body: JsonObject,
  context: { readonly signal: AbortSignal; note(note: JsonObject): void },
) => Promise<JsonObject>;

/** This process among the processes that share one state. Each can pass a request to the process that holds the request's data. */
export type Replica = Awaited<ReturnType<typeof createReplica>>;

interface Request {
  /** Identifies the request in messages about it. */
  readonly leg: string;
  readonly from: string;
  readonly kind: string;
  readonly body: JsonObject;
}

/** A message between two processes. */
type Mail =
  | Request
  | { readonly leg: string; readonly note: JsonObject }
  | { readonly leg: string; readonly result: JsonObject }
  | { readonly leg: string; readonly error: RpcErrorBody }
  | { readonly leg: string; readonly cancel: true };

interface PendingReply extends Pick<PromiseWithResolvers<JsonObject>, "resolve" | "reject"> {
  readonly note: ((note: JsonObject) => void) | undefined;
}

const KEY = "mcp/seal-key";
const MAIL = "mcp/mail/";
const TOPIC = "mcp/replica/";
const LEASE = "mcp/replica/";

/** A process that has not renewed its lease for this long counts as ended. */
const LEASE_MS = 10_000;
/** Interval at which a waiting process checks whether the other one is still running. */
const PROBE_MS = 2_000;
/** Messages that were not read within this time are dropped. */
const MAIL_MS = 60_000;

/**
 * Joins the processes that share a state. Messages are sealed documents, and only their keys are published, so large or repeated messages do no harm.
 */
export async function createReplica(state: ReplicaState, { clock = systemClock }: { readonly clock?: Clock } = {}) {
  const { documents, changes, leases } = state;
  const id: string = randomUUID();
  const sealKey = await sharedKey(documents)
    // The second attempt succeeds if a damaged store was repaired. While the store is unavailable, texts that this process seals open only in this
    // process.
    .catch(() => sharedKey(documents))
    .catch(() => randomBytes(32));
  const seal = createSeal({ key: sealKey, clock });
  const handlers = new Map<string, ReplicaHandler>();
  const serving = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();
  const waiting = new Map<string, PendingReply>();
  let posting: Promise<unknown> = Promise.resolve();
  let taking: Promise<unknown> = Promise.resolve();
  let entering: Promise<void> | undefined;
  let entered = false;
  let leave: (() => Promise<void>) | undefined;
  let unsubscribe: (() => void) | undefined;

  /** Sends messages one after another, so that they arrive in order. */
  function post(to: string, mail: Mail): Promise<void> {
    const posted = postAfter(posting, to, mail);
    posting = posted.catch(() => undefined);
    return posted;
  }

  async function postAfter(earlier: Promise<unknown>, to: string, mail: Mail): Promise<void> {
    await earlier;
    const key = randomUUID();
    const sealed = seal.seal({ ...mail }, bindingFor(to));
    await documents.set(MAIL + key, sealed, { expiresAt: clock.now() + MAIL_MS });
    await changes.publish(TOPIC + to, key);
  }

  /** Sends a message without waiting for it. If the store is unavailable, the other process detects the loss itself. */
  const tell = (to: string, mail: Mail): void => void post(to, mail).catch(() => undefined);

  async function take(key: unknown): Promise<void> {
    const entry = typeof key === "string" ? await documents.get(MAIL + key) : undefined;
    if (typeof entry?.value !== "string" || !(await documents.delete(MAIL + String(key)))) return;
    const mail = seal.open(entry.value, bindingFor(id)) as Mail | undefined;
    if (mail === undefined) return;
    if ("kind" in mail) return begin(mail);
    if ("cancel" in mail) {
      const reason = new ArsenalError("CANCELLED", "The client cancelled the request.");
      return serving.get(mail.leg)?.controller.abort(reason);
    }
    const leg = waiting.get(mail.leg);
    if ("note" in mail) leg?.note?.(mail.note);
    else if ("error" in mail) leg?.reject(new RpcError(mail.error));
    else leg?.resolve(mail.result);
  }

  function begin(request: Request): void {
    const controller = new AbortController();
    const ended = answer(request, controller.signal).finally(() => serving.delete(request.leg));
    serving.set(request.leg, { controller, ended });
  }

  async function answer({ leg, from, kind, body }: Request, signal: AbortSignal): Promise<void> {
    try {
      const handler = handlers.get(kind);
      if (handler === undefined) throw new RpcError({ code: RPC.invalidParams, message: "There is no such request." });
      tell(from, { leg, result: await handler(body, { signal, note: (note) => tell(from, { leg, note }) }) });
    } catch (error) {
      tell(from, { leg, error: errorBody(error) });
    }
  }

  async function join(): Promise<void> {
    unsubscribe ??= changes.subscribe(TOPIC + id, (key) => {
      taking = taking.then(() => take(key)).catch(() => undefined);
    });
    const lease = await leases.acquire(LEASE + id, { ttlMs: LEASE_MS });
    if (lease === undefined) return;
    entered = true;
    leave = () => lease.release();
    lease.lost.addEventListener("abort", () => (entered = false), { once: true });
  }

  /** Makes this process reachable under its id. Await it before you publish the id. Returns undefined if the process is already reachable. */
  function enter(): Promise<void> | undefined {
    if (entered) return undefined;
    entering ??= join().finally(() => (entering = undefined));
    return entering;
  }

  /** Returns false if the process has ended, or has not renewed its lease in time. */
  async function isPresent(other: string): Promise<boolean> {
    const free = await leases.acquire(LEASE + other, { ttlMs: 1_000 });
    await free?.release();
    return free === undefined;
  }

  return {
    /** Identifies this process to the others. New with each start. */
    id,
    state,
    /** Seals with the key that all processes share, so any of them can open the text. */
    seal,
    enter,
    isPresent,
    /** Passes a request to another process. Rejects with `OUTCOME_UNKNOWN` if that process ends first, and with an `RpcError` if it refuses. */
    async call(
      to: string,
      kind: string,
      body: JsonObject,
      { signal, note }: { readonly signal: AbortSignal; note?(note: JsonObject): void },
    ): Promise<JsonObject> {
      await orAway(Promise.resolve(enter()));
      if (!(await orAway(isPresent(to)))) throw processLost();
      signal.throwIfAborted();
      const leg = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      promise.catch(() => undefined);
      // An unavailable store does not mean that the other process has ended.
      const probing = createLookout(clock, PROBE_MS, async () => {
        if (!(await isPresent(to))) reject(processLost());
      });
      const cancel = (): void => {
        reject(signal.reason);
        tell(to, { leg, cancel: true });
      };
      waiting.set(leg, { resolve, reject, note });
      signal.addEventListener("abort", cancel, { once: true });
      try {
        await orAway(post(to, { leg, from: id, kind, body }));
        return await promise;
      } finally {
        waiting.delete(leg);
        probing.stop();
        signal.removeEventListener("abort", cancel);
      }
    },
    /** Answers requests of one kind. Returns a function that stops it. */
    serve(kind: string, handler: ReplicaHandler): () => void {
      handlers.set(kind, handler);
      return () => {
        if (handlers.get(kind) === handler) handlers.delete(kind);
      };
    },
    /** Leaves the other processes, and cancels requests in progress. */
    async close(): Promise<void> {
      const closing = new ArsenalError("CLOSED", "The gateway is shutting down.");
      for (const { controller } of serving.values()) controller.abort(closing);
      for (const { reject } of waiting.values()) reject(closing);
      unsubscribe?.();
      // The last answers are sent before the other processes learn that this one is gone.
      await Promise.all([...serving.values()].map(({ ended }) => ended));
      await posting;
      await leave?.().catch(() => undefined);
    },
  };
}

/** Returns the key with which all processes on one state seal. The first process creates it. */
async function sharedKey(documents: State): Promise<Uint8Array> {
  for (;;) {
    const kept = await documents.get(KEY);
    if (kept !== undefined) return Buffer.from(String(kept.value), "base64url");
    await documents.set(KEY, randomBytes(32).toString("base64url"), { ifVersion: "absent" });
  }
}

/** Binds a message to the process that may open it. */
function bindingFor(to: string): SealBinding {
  return { principal: { id: to }, plane: "replica", method: "mail", params: {} };
}

/**
 * Throws the error for a client if the shared state cannot be used. Only the operator gets the reason, because it may contain a file name or an
 * address.
 */
export async function orAway<Value>(using: Promise<Value>): Promise<Value> {
  try {
    return await using;
  } catch (cause) {
    const problem = "The gateway cannot reach the state that it shares with its other processes.";
    throw fixable("STORE_FAILED", problem, "Repeat the request in a moment.", { cause });
  }
}

/** Returns the error for a call whose process ended first. */
export function processLost(): ArsenalError {
  const problem = "The gateway process that was running this call ended, so its outcome is unknown.";
  return fixable("OUTCOME_UNKNOWN", problem, "Check whether the call took effect before you repeat it.");
}
