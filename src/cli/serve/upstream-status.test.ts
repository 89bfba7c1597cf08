import { expect, it } from "vitest";
import type { McpUpstream, UpstreamChange, UpstreamState } from "../../adapters/sources/mcp/upstream/upstream.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { type UpstreamReport, watchUpstream } from "./upstream-status.ts";

/** An upstream whose state the test decides. */
function fakeUpstream(list: () => Promise<readonly object[]>): {
  readonly upstream: McpUpstream;
  set(state: UpstreamState): Promise<void>;
} {
  const listeners = new Set<(change: UpstreamChange) => void>();
  const state: UpstreamState = { kind: "connecting" };
  const upstream = {
    name: "github",
    state,
    list,
    watch(listener: (change: UpstreamChange) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as McpUpstream;
  return {
    upstream,
    async set(next) {
      for (const listener of listeners) listener({ kind: "state", state: next });
      await new Promise(setImmediate);
    },
  };
}

const connected: UpstreamState = {
  kind: "connected",
  era: "legacy",
  protocolVersion: "2025-11-25",
  server: { info: {}, capabilities: {} },
};
const down = (message: string, retryAt: number): UpstreamState => ({
  kind: "failed",
  error: new ArsenalError("SOURCE_UNAVAILABLE", message, { fix: "Start it." }),
  retryAt,
});

it("tells of each connection, and of a failure once until it is another or the server came back", async () => {
  const { upstream, set } = fakeUpstream(async () => [{}, {}]);
  const told: string[] = [];
  const end = watchUpstream(
    upstream,
    ({ text }) => told.push(text),
    () => 1000,
  );
  await set(down("It is away.", 9000));
  await set(down("It is away.", 12_000));
  await set(down("It is\u001B[31m\nburning. Start it.", 1000));
  await set(connected);
  await set(down("It is away.", 2500));
  end();
  await set(connected);
  expect(told).toEqual([
    "github: failed: It is away. Start it; next attempt in 8 s",
    "github: failed: It is burning. Start it",
    "github: connected, 2 tools (2025-11-25)",
    "github: failed: It is away. Start it; next attempt in 2 s",
  ]);
});

it("tells of a server that connects and cannot be listed", async () => {
  const { upstream, set } = fakeUpstream(() => Promise.reject(new Error("too long")));
  const told: UpstreamReport[] = [];
  watchUpstream(upstream, (report) => told.push(report));
  await set(connected);
  expect(told).toMatchObject([{ upstream: "github", state: "failed", error: "too long" }]);
});
