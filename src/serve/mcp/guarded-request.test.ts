import { describe, expect, it, onTestFinished } from "vitest";
import { echoing } from "../../../test/mcp/echoing-source.ts";
import { modern } from "../../../test/mcp/served-aggregate.ts";
import type { McpSource } from "../../adapters/sources/mcp/mcp.ts";
import type { JsonObject, RpcNotification } from "../../mcp/protocol.ts";
import type { McpUpstream, UpstreamChange } from "../../adapters/sources/mcp/upstream/upstream.ts";
import { ToolArsenal } from "../../arsenal.ts";
import type { Policy, PolicyDecision } from "../../guard/policy.port.ts";
import { localOperator } from "../../guard/principal.ts";
import { aggregatePlane } from "./aggregate/aggregate-plane.ts";
import { toServedUri } from "./aggregate/resources/resource-uri.ts";
import type { Peer, Plane } from "./plane.ts";
import { createSeal } from "./modern/seal.ts";
import { transparentPlane } from "./transparent/transparent-plane.ts";

interface Box {
  readonly source: McpSource;
  readonly upstream: McpUpstream;
  updated(uri: string): void;
}

/** A server that can say that a resource changed. */
function createBox(): Box {
  const watchers = new Set<(change: UpstreamChange) => void>();
  const source = echoing("box", {
    watch(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
  });
  return {
    source,
    upstream: source.upstream,
    updated(uri) {
      const notification: RpcNotification = {
        jsonrpc: "2.0",
        method: "notifications/resources/updated",
        params: { uri },
      };
      for (const watcher of watchers) watcher({ kind: "notification", notification });
    },
  };
}

/** When the policy is asked about the newcomer, and what it then says. */
let asked = Promise.withResolvers<void>();
let decided = Promise.withResolvers<PolicyDecision>();

/** The guest may know of everything and do nothing; the stranger may know of nothing; of the newcomer it is not decided yet. */
const policy: Policy = {
  sees: (_tool, { id }) => id !== "stranger",
  decide({ principal: { id } }) {
    if (id === "newcomer") {
      asked.resolve();
      return decided.promise;
    }
    return id === "guest" ? { effect: "deny", rule: "no-guests", reason: "Not for guests." } : { effect: "allow" };
  },
};

/** An arsenal that knows the server, under the policy. */
async function arsenalOf({ source }: Box): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, policy });
  await arsenal.add(source);
  return arsenal;
}

const peerNamed = (id: string): Peer => ({ ...modern, principal: localOperator({ id }) });

const PLANES = [
  {
    name: "aggregate",
    uri: toServedUri("box", "note:1"),
    open: (arsenal: ToolArsenal, { upstream }: Box): Plane =>
      aggregatePlane({ arsenal, upstreams: () => [upstream], mode: "static", seal: createSeal() }),
  },
  {
    name: "transparent",
    uri: "note:1",
    open: (arsenal: ToolArsenal, { upstream }: Box): Plane => transparentPlane({ upstream, arsenal }),
  },
] as const;

describe.each(PLANES)("on the $name plane", ({ uri, open }) => {
  async function serve(): Promise<{ readonly plane: Plane; readonly box: Box }> {
    const box = createBox();
    const arsenal = await arsenalOf(box);
    const plane = open(arsenal, box);
    onTestFinished(async () => {
      await plane.close();
      await arsenal.close();
    });
    return { plane, box };
  }

  /** Listens for changes of the resource. Returns what was told, and what was promised. */
  async function listen(plane: Plane, who: string): Promise<{ told: RpcNotification[]; promised: JsonObject | Error }> {
    const told: RpcNotification[] = [];
    const { signal } = new AbortController();
    const filter = { resourceSubscriptions: [uri] };
    const promised = await plane
      .listen(filter, (one) => void told.push(one), { peer: peerNamed(who), signal })
      .catch((error: Error) => error);
    return { told, promised };
  }

  it.each(["guest", "stranger"])("a %s is not told what somebody else may hear of", async (who) => {
    const { plane, box } = await serve();
    const dana = await listen(plane, "dana");
    const other = await listen(plane, who);
    box.updated("note:1");
    expect(dana.told.map(({ params }) => params?.["uri"])).toEqual([uri]);
    expect(other.told).toEqual([]);
    expect(dana.promised).toEqual({ resourceSubscriptions: [uri] });
    expect(other.promised).not.toHaveProperty("resourceSubscriptions");
  });
});

describe("a client whose subscription is not decided yet", () => {
  it.each(PLANES)("is told nothing, on the $name plane", async ({ uri, open }) => {
    const box = createBox();
    const arsenal = await arsenalOf(box);
    const plane = open(arsenal, box);
    onTestFinished(async () => {
      await plane.close();
      await arsenal.close();
    });
    asked = Promise.withResolvers();
    decided = Promise.withResolvers();
    const told: RpcNotification[] = [];
    const filter = { resourceSubscriptions: [uri] };
    const { signal } = new AbortController();
    const listening = plane.listen(filter, (one) => void told.push(one), { peer: peerNamed("newcomer"), signal });
    await asked.promise;
    box.updated("note:1");
    expect(told).toEqual([]);
    decided.resolve({ effect: "allow" });
    await listening;
    box.updated("note:1");
    expect(told.length).toBe(1);
  });
});

describe("a method that nobody knows", () => {
  const exchange = (id: string, method: string) => ({
    id: 1,
    method,
    params: {},
    peer: peerNamed(id),
    signal: new AbortController().signal,
    notify: () => undefined,
    ask: () => Promise.reject(new Error("nobody asks")),
    headers: {},
  });

  it("passes to its server under policy, and one of the known kind does not", async () => {
    const box = createBox();
    await using arsenal = await arsenalOf(box);
    const plane = transparentPlane({ upstream: box.upstream, arsenal });
    onTestFinished(() => plane.close());
    const ask = (id: string, method: string): Promise<JsonObject> => plane.shared.handle(exchange(id, method));
    expect(await ask("dana", "reports/list")).toEqual({
      asked: { method: "reports/list", params: { _meta: { traceparent: expect.any(String) } } },
    });
    await expect(ask("guest", "reports/list")).rejects.toMatchObject({ code: -32_003 });
    await expect(ask("stranger", "reports/list")).rejects.toMatchObject({ code: -32_601 });
    await expect(ask("dana", "tools/anything")).rejects.toMatchObject({ code: -32_601 });
  });
});
