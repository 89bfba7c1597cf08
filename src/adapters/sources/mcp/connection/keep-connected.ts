import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { outsideCalls } from "../../../../guard/egress/domain-bound.ts";
import type { Clock } from "../../../../observe/clock.ts";
import { withDeadline } from "../../../../register/with-deadline.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { isSessionExpired } from "./failures.ts";
import { backoffMs } from "../../../../base/turns/backoff.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";
import type { UpstreamState } from "../upstream/upstream.ts";

interface KeeperParts {
  readonly name: string;
  readonly connect: (options: { readonly signal: AbortSignal }) => Promise<McpConnection>;
  readonly clock: Clock;
  /** Returns a number in [0, 1). Varies the pauses: clients of one server must not all reconnect at the same moment. */
  readonly random: () => number;
  readonly timeoutMs: number;
  /** Returns the likely reason why a server did not connect in time, for the message. */
  readonly explain: () => string;
  /** Called with every new state, and with the connection if there is one. */
  readonly changed: (state: UpstreamState, connection: McpConnection | undefined) => void;
}

const BACKOFF = { firstMs: 1000, longestMs: 60_000 };

/** A connection that lasted this long was healthy. It is reopened at once, and the count of failures starts again. */
const STEADY_MS = 10_000;

/** A server that loses this many new sessions in a row is treated as a failed connection, and retried after a pause. */
const MOST_RENEWALS = 3;

/** Connects now, and reconnects whenever the connection ends or an attempt fails. Pauses double from one second to one minute. */
export function createKeeper({ name, connect, clock, random, timeoutMs, explain, changed }: KeeperParts) {
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();
  let state: UpstreamState = { kind: "connecting" };
  let current: McpConnection | undefined;
  let renewing: Promise<void> | undefined;
  let attempting: Promise<void> | undefined;
  /** The connection of the current attempt. An aborted attempt may still be stopping its process. */
  let opening: Promise<McpConnection> | undefined;
  let closed: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let failures = 0;
  let lastFailure: Error | undefined;
  let connectedAt = 0;
  let renewals = 0;

  const enter = (next: UpstreamState): void => {
    state = next;
    changed(next, current);
  };

  const attempt = (): Promise<void> => (attempting = attemptOnce());

  const attemptOnce = async (): Promise<void> => {
    cancelRetry = undefined;
    if (state.kind !== "connecting") enter({ kind: "connecting", error: lastFailure });
    try {
      const connection = await withDeadline((signal) => (opening = open(signal)), {
        clock,
        ms: timeoutMs,
        signal: closing.signal,
        doing: `connecting the MCP server "${name}"`,
        explain,
      });
      if (closing.signal.aborted) return await connection.close();
      current = connection;
      connectedAt = clock.now();
      lastFailure = undefined;
      const { era, protocolVersion, server } = connection;
      enter({ kind: "connected", era, protocolVersion, server });
      connection.onClosed((error) => lost(error ?? new Error("the connection was closed")));
    } catch (error) {
      if (!closing.signal.aborted) pause(error instanceof Error ? error : new Error(String(error)));
    } finally {
      first.resolve();
    }
  };

  /** Connects. Closes the new connection if the attempt was aborted meanwhile. */
  const open = async (signal: AbortSignal): Promise<McpConnection> => {
    const connection = await connect({ signal });
    if (signal.aborted) await connection.close();
    return connection;
  };

  const lost = (why: Error): void => {
    current = undefined;
    if (closing.signal.aborted) return;
    const steady = clock.now() - connectedAt >= STEADY_MS;
    if (steady) failures = renewals = 0;
    else if (!isSessionExpired(why) || ++renewals > MOST_RENEWALS) return pause(why);
    // The new connection serves all calls, so it must not depend on the rules of the call that found the old connection lost.
    renewing = outsideCalls(attempt).finally(() => (renewing = undefined));
  };

  const pause = (error: Error): void => {
    lastFailure = error;
    const ms = backoffMs(failures++, { ...BACKOFF, random });
    cancelRetry = clock.after(ms, () => void outsideCalls(attempt), { background: true });
    enter({ kind: "failed", error, retryAt: clock.now() + ms });
  };

  const unavailable = (): ArsenalError => {
    const waits = state.kind === "failed" ? Math.max(0, Math.ceil(state.retryAt - clock.now())) : undefined;
    const what =
      state.kind === "closed"
        ? "was closed. Add it again."
        : lastFailure === undefined
          ? "is still connecting. Try again in a moment."
          : `is unavailable: ${lastFailure.message} Retrying ${waits === undefined ? "now" : `in ${Math.ceil(waits / 1000)} s`}.`;
    return new ArsenalError("SOURCE_UNAVAILABLE", `The MCP server "${name}" ${what}`, {
      field: name,
      beforeSend: true,
      ...(waits !== undefined && { retryAfterMs: waits }),
      cause: lastFailure,
    });
  };

  const end = async (): Promise<void> => {
    closing.abort(new ArsenalError("CLOSED", `The MCP server "${name}" was closed.`));
    cancelRetry?.();
    const connection = current;
    current = undefined;
    enter({ kind: "closed" });
    await Promise.all([connection?.close(), opening?.catch(() => {})]);
  };

  void attempt();
  return {
    get state(): UpstreamState {
      return state;
    },
    /** Resolves when the first attempt has ended. Never rejects. */
    attempted: first.promise,
    /** Returns the connection; waits if the connection is being renewed. Rejects with SOURCE_UNAVAILABLE while the server is unavailable. */
    async ready(signal?: AbortSignal): Promise<McpConnection> {
      if (current === undefined && renewing !== undefined) await untilAborted(renewing, signal);
      if (current === undefined) throw unavailable();
      return current;
    },
    /** Connects now instead of after the pause. Resolves when the attempt has ended. Does nothing if the server is connected. */
    async retry(): Promise<void> {
      // The current attempt started before this retry was requested. If it fails, another attempt follows.
      if (state.kind === "connecting") await attempting;
      if (state.kind !== "failed") return;
      cancelRetry?.();
      await outsideCalls(attempt);
    },
    close: (): Promise<void> => (closed ??= end()),
  };
}
