import { count, harmless, messageOf } from "../../errors/show-value.ts";
import type { McpUpstream, UpstreamState } from "../../adapters/sources/mcp/upstream/upstream.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";

/** The status of one upstream, as a line of text and as data. */
export interface UpstreamReport {
  readonly upstream: string;
  readonly state: "connected" | "failed";
  readonly text: string;
  readonly tools?: number;
  readonly protocolVersion?: string;
  readonly error?: string;
  readonly fix?: string;
  readonly retryInMs?: number;
}

/** Reports an upstream whenever it connects, and each failure that differs from the previous one. Returns a function that unsubscribes. */
export function watchUpstream(
  upstream: McpUpstream,
  tell: (report: UpstreamReport) => void,
  now: () => number = Date.now,
): () => void {
  let lastFailure: string | undefined;
  let ended = false;

  const take = async (state: UpstreamState): Promise<void> => {
    if (state.kind === "failed") {
      const report = failed(upstream.name, state, now());
      if (report.error !== lastFailure && !ended) tell(report);
      lastFailure = report.error;
    }
    if (state.kind !== "connected") return;
    lastFailure = undefined;
    const { name } = upstream;
    const { protocolVersion } = state;
    try {
      const { length: tools } = await upstream.list("tools");
      const text = `${name}: connected, ${count(tools, "tool")} (${protocolVersion})`;
      if (!ended) tell({ upstream: name, state: "connected", text, tools, protocolVersion });
    } catch (error) {
      const reason = oneLine(error);
      const text = `${name}: connected (${protocolVersion}), but its tools cannot be listed: ${reason}`;
      if (!ended) tell({ upstream: name, state: "failed", text, protocolVersion, error: reason });
    }
  };

  const endWatch = upstream.watch((change) => {
    if (change.kind === "state") void take(change.state);
  });
  void take(upstream.state);
  return () => {
    ended = true;
    endWatch();
  };
}

/** Describes an unreachable server: the reason, the fix, and the time of the next attempt. */
function failed(name: string, state: Extract<UpstreamState, { kind: "failed" }>, now: number): UpstreamReport {
  const error = oneLine(state.error);
  const fix = isArsenalError(state.error) ? state.error.details.fix : undefined;
  const retryInMs = Math.max(0, Math.round(state.retryAt - now));
  const told = toldFailure(state.error).replace(/\.$/, "");
  // If a server waits for a person, the time of the next attempt is unknown.
  const next = retryInMs === 0 ? "" : `; next attempt in ${Math.ceil(retryInMs / 1000)} s`;
  const text = `${name}: failed: ${told}${next}`;
  return { upstream: name, state: "failed", text, error, ...(fix === undefined ? {} : { fix }), retryInMs };
}

/** Formats the error and its fix on one line. */
export function toldFailure(error: Error): string {
  const message = oneLine(error);
  const fix = isArsenalError(error) ? error.details.fix : undefined;
  return fix === undefined || message.includes(fix) ? message : `${message} ${fix}`;
}

function oneLine(error: unknown): string {
  const text = messageOf(error);
  return harmless(text).replaceAll(/\s+/g, " ").trim();
}
