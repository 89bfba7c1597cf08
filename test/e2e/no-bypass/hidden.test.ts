import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localOperator, type Principal, ToolArsenal } from "../../../src/index.ts";
import { createClient } from "../../../src/client/index.ts";
import { createAgent } from "../../../src/agent/index.ts";
import { scriptedLlm } from "../../../src/testing/index.ts";
import type { Policy } from "../../../src/adapters/policies/index.ts";
import { bearerToken } from "../../../src/adapters/identity/bearer-token.ts";
import { runInMemory } from "../terminal.ts";
import { httpClient } from "./clients.ts";
import { createPlace, type Place } from "./place.ts";
import { cardsOf, type Remote, REMOTE_LISTS } from "./remote.ts";
import { calledAs, opened } from "./surface.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const QUERY = "Repeats a text";
/** Tools, in the spellings of every surface. */
const HIDDEN = /secret/;
const VISIBLE = /closed/;

let upstream: Upstream;
let place: Place;
let arsenal: ToolArsenal;
beforeAll(async () => {
  upstream = await startUpstream("modern");
  place = await createPlace(upstream.url);
  arsenal = await opened(place.config);
});
afterAll(async () => {
  await arsenal.close();
  await upstream.close();
  await place.remove();
});

async function ask(path: string, options: object, run: (client: Client) => Promise<object>): Promise<string> {
  const gateway = await arsenal.serve({ port: 0, ...options });
  const client = await httpClient("modern", gateway.url + path);
  const answer = JSON.stringify(await run(client));
  await client.close();
  await gateway.close();
  return answer;
}

/** Serves everything to the local operator, while something is asked. */
async function atGateway<Told>(run: (url: string) => Promise<Told>): Promise<Told> {
  const gateway = await arsenal.serve({ port: 0 });
  try {
    return await run(gateway.url ?? "");
  } finally {
    await gateway.close();
  }
}

const commandLine = async (...argv: readonly string[]): Promise<string> =>
  (await runInMemory([...argv, "--config", place.config, "--json"])).out;

interface Marked {
  readonly id: string;
  readonly refused?: { readonly rule: string };
}

/** Every way to learn of tools but those of the operator alone, and what it tells. */
const WAYS: readonly (readonly [string, () => Promise<string>])[] = [
  ["listTools", async () => JSON.stringify(await arsenal.listTools())],
  ["retrieve", async () => JSON.stringify(await arsenal.retrieve({ context: { query: QUERY }, limit: 20 }))],
  ["retrieveTools", async () => JSON.stringify(await arsenal.retrieveTools(QUERY, { limit: 20 }))],
  [
    "exportTools",
    async () => JSON.stringify((await arsenal.exportTools("openai", ["closed.echo", "secret.echo"])).tools),
  ],
  [
    "createAgent",
    async () => {
      const llm = scriptedLlm(["Done."]);
      await createAgent({ llm, arsenal, principal: localOperator(), limit: 20 }).execute(QUERY);
      return JSON.stringify(llm.requests[0]?.tools);
    },
  ],
  ["tools/list, static", () => ask("/mcp", { mode: "static" }, (client) => client.listTools())],
  ["tools/list, hybrid", () => ask("/mcp", { mode: "hybrid", common: ["*"] }, (client) => client.listTools())],
  [
    "find_relevant_tools",
    () =>
      ask("/mcp", { mode: "dynamic" }, (client) =>
        client.callTool({ name: "find_relevant_tools", arguments: { query: QUERY, limit: 20 } }),
      ),
  ],
  ...REMOTE_LISTS.map(
    ([name, tell]) =>
      [
        name,
        () => atGateway(async (url) => JSON.stringify(await tell({ url }, QUERY, ["closed.echo", "secret.echo"]))),
      ] as const,
  ),
  ["the extended cards of A2A", () => atGateway(async (url) => JSON.stringify((await cardsOf({ url })).extended))],
  ["toolarsenal export", () => commandLine("export", "--dialect", "openai")],
];

describe("a tool that is hidden", () => {
  it.each(WAYS)("is absent from %s, where one that is merely refused is not", async (_name, told) => {
    const text = await told();
    expect(text).toMatch(VISIBLE);
    expect(text).not.toMatch(HIDDEN);
  });

  it.each([["list"], ["search", QUERY, "--limit", "50"]])(
    "is shown by toolarsenal %s to the operator who wrote the rule, marked with it",
    async (...argv) => {
      const shown = JSON.parse(await commandLine(...argv)) as readonly Marked[] | { readonly tools: readonly Marked[] };
      const tools = "tools" in shown ? shown.tools : shown;
      const ruleOf = (id: string): string | undefined => tools.find((tool) => tool.id === id)?.refused?.rule;
      expect(["secret_own.echo", "closed_own.echo", "open_own.echo"].map(ruleOf)).toEqual([
        "unseen",
        "shut",
        undefined,
      ]);
    },
  );

  it("is absent from its own server's list", async () => {
    const names = (text: string): readonly string[] =>
      (JSON.parse(text) as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names(await ask("/mcp/upstreams/closed", {}, (client) => client.listTools()))).toEqual(["echo", "check"]);
    expect(names(await ask("/mcp/upstreams/secret", {}, (client) => client.listTools()))).toEqual([]);
  });

  it("is absent from the card for anybody", async () => {
    expect(await atGateway(async (url) => (await cardsOf({ url })).open)).not.toMatch(HIDDEN);
  });

  it("is not got by its id over REST, nor deleted, nor is its health", async () => {
    await atGateway(async (url) => {
      const statusOf = async (path: string, init?: RequestInit): Promise<number> =>
        (await fetch(`${url}/api/v1/tools/${path}`, init)).status;
      for (const [id, status] of [
        ["closed.echo", 200],
        ["secret.echo", 404],
        ["secret_own.echo", 404],
        ["secret.resources/read", 404],
      ] as const) {
        const path = encodeURIComponent(id);
        expect([id, await statusOf(path), await statusOf(`${path}/health`)]).toEqual([id, status, status]);
      }
      expect(await statusOf("secret_own.echo", { method: "DELETE" })).toBe(404);
      const client = createClient({ url });
      expect((await client.getTool("echo", "closed"))?.id).toBe("closed.echo");
      expect(await client.getTool("echo", "secret")).toBeUndefined();
    });
  });

  it("is not got by its id", async () => {
    expect((await arsenal.getTool("echo", "closed"))?.id).toBe("closed.echo");
    expect(await arsenal.getTool("echo", "secret")).toBeUndefined();
    expect(await arsenal.getTool("resources/read", "secret")).toBeUndefined();
  });
});

describe("a tool that is hidden from one of two callers", () => {
  const person = (id: string): Principal => localOperator({ id, roles: [], local: false });
  const headersOf = (id: string) => ({ authorization: `Bearer the-token-of-the-${id}` });
  const identity = bearerToken({
    tokens: ["chief", "guest"].map((id) => ({ token: `the-token-of-the-${id}`, principal: person(id) })),
  });
  const policy: Policy = {
    sees: (tool, { id }) => id === "chief" || !HIDDEN.test(tool.id),
    decide: () => ({ effect: "allow" }),
  };
  const ways = [
    ...REMOTE_LISTS,
    ["the extended cards of A2A", async (at: Remote) => (await cardsOf(at)).extended] as const,
  ];

  it.each(ways)("is absent from %s to that one, whatever the other was told just before", async (_name, tell) => {
    await using own = new ToolArsenal({ telemetry: { enabled: false }, policy });
    for (const id of ["closed.echo", "secret.echo"]) {
      const [namespace = "", name = ""] = id.split(".");
      own.register({ name, namespace, description: "Repeats a text." }, () => id);
    }
    const gateway = await own.serve({ port: 0, identity });
    const told = async (id: string): Promise<string> =>
      JSON.stringify(
        await tell({ url: gateway.url ?? "", headers: headersOf(id) }, QUERY, ["closed.echo", "secret.echo"]),
      );
    expect(await told("chief")).toMatch(HIDDEN);
    const toGuest = await told("guest");
    expect(toGuest).toMatch(VISIBLE);
    expect(toGuest).not.toMatch(HIDDEN);
    expect(await (await fetch(`${gateway.url}/.well-known/agent-card.json`)).text()).not.toMatch(/secret|closed/);
    await gateway.close();
  });
});

describe("a scope that a tool needs and its caller lacks", () => {
  const caller: Principal = { ...localOperator({ id: "app", local: false }), scopes: ["orders:read"] };
  const token = "a-token-of-the-app";

  it.each(["static", "dynamic", "hybrid"] as const)("is named in the answer, %s", async (mode) => {
    await using own = new ToolArsenal({ telemetry: { enabled: false } });
    own.register(
      {
        name: "cancel_order",
        namespace: "orders",
        description: "Cancels an order.",
        requiredScopes: ["orders:write"],
        parameters: { type: "object", properties: {} },
      },
      () => "cancelled",
    );
    const identity = bearerToken({ tokens: [{ token, principal: caller }] });
    const gateway = await own.serve({ port: 0, mode, identity });
    const client = await httpClient("modern", `${gateway.url}/mcp`, { authorization: `Bearer ${token}` });
    const [name, args] =
      mode === "static"
        ? ["orders-cancel_order", {}]
        : ["execute_tool", { tool_name: "orders.cancel_order", arguments: {} }];
    expect(await calledAs(client, name, args)).toEqual({ status: "permission_denied", code: "PERMISSION_DENIED" });
    const { content } = await client.callTool({ name, arguments: args });
    expect(JSON.stringify(content)).toContain("lacks the scope orders:write that orders.cancel_order needs");
    await client.close();
    await gateway.close();
  });
});
