import { A2AError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { createCallerRate } from "../../guard/limits/caller-rate.ts";
import type { Limits } from "../../state/limits.port.ts";
import { createShares, type Share, type Shares } from "../../base/shares.ts";
import type { HttpExchange } from "../surface.ts";
import { stateOf } from "./call-context.ts";
import type { SharedTasks } from "./tasks/task-store.ts";

/** Limits for open requests and streams, and for running tasks, together with the bytes of their bodies. */
const AT_ONCE = { count: 1_000, bytes: 96 * 1024 * 1024, perCaller: { count: 100, bytes: 32 * 1024 * 1024 } };
const MOST_BODY_BYTES = 4 * 1024 * 1024;

/** Limits a caller's concurrent requests and messages per minute. The local operator is not limited. */
export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission({
  tasks,
  limits,
  messagesPerMinute,
}: {
  readonly tasks: SharedTasks;
  /** Shared with the other processes. If omitted, messages have no rate limit. */
  readonly limits?: Pick<Limits, "admit"> | undefined;
  readonly messagesPerMinute: number;
}) {
  const requests = createShares(AT_ONCE);
  const runs = createShares(AT_ONCE);
  const refusal = (_caller: unknown, retryAfterMs: number): ArsenalError => {
    const problem = `This caller has sent ${messagesPerMinute} messages within a minute, which is the limit.`;
    const message = `${problem} Send fewer, or raise a2a.messages_per_minute.`;
    return new ArsenalError("RATE_LIMITED", message, { retryAfterMs });
  };
  const takeRate = limits && createCallerRate({ limits, kind: "a2a", perMinute: messagesPerMinute, refusal });

  return {
    /**
     * Reserves a share for a request until its answer is complete, before its body is read. Throws `RATE_LIMITED` if the caller has too many open
     * requests.
     */
    enter(exchange: AskedExchange): void {
      const share = takeShare(requests, exchange, "requests");
      exchange.response.once("close", () => share?.release());
    },
    /**
     * Counts a message against the caller's rate, reserves a share of the concurrent tasks, and makes room for the message's task. Throws
     * `RATE_LIMITED`. The run releases the share, which is in `state.run` of the context.
     */
    async takeMessage(exchange: AskedExchange, context: ServerCallContext): Promise<void> {
      const { principal, response } = exchange;
      const state = stateOf(context);
      state.run = takeShare(runs, exchange, "running tasks");
      // Releases the share if no run has released it by then.
      response.once("close", () => state.run?.release());
      if (!principal.local) await takeRate?.(principal);
      await tasks.makeRoom(context);
    },
  };
}

type AskedExchange = Pick<HttpExchange, "principal" | "request" | "response">;

function takeShare(shares: Shares, { principal, request }: AskedExchange, kind: string): Share | undefined {
  const { id, tenant, local } = principal;
  if (local) return undefined;
  const length = Number(request.headers["content-length"] ?? MOST_BODY_BYTES);
  const bytes = request.method === "POST" ? Math.min(length, MOST_BODY_BYTES) : 0;
  const share = shares.take({ id, tenant }, { bytes });
  if (share === undefined) throw tooManyAtOnce(kind);
  return share;
}

/** Returns the error for the caller, with a `retry-after` header. Undefined for errors that are not about limits. */
export function limitRefusal(
  error: unknown,
): { readonly error: A2AError; readonly headers: Readonly<Record<string, string>> } | undefined {
  if (!isArsenalError(error) || error.code !== "RATE_LIMITED") return undefined;
  const { retryAfterMs = 1_000 } = error.details;
  const metadata = { code: error.code, retryAfterMs: String(retryAfterMs) };
  return {
    error: new A2AError({ message: error.message, metadata }),
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  };
}

function tooManyAtOnce(kind: string): ArsenalError {
  const { count, bytes } = AT_ONCE.perCaller;
  return new ArsenalError(
    "RATE_LIMITED",
    `Too many ${kind} at once. A caller can have ${count}, with bodies of ${bytes} bytes in total; all callers together can have ${AT_ONCE.count} and ${AT_ONCE.bytes} bytes. Wait until some have ended.`,
    { retryAfterMs: 1_000 },
  );
}
