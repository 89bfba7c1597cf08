import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAgent } from "../../../src/agent/index.ts";
import { localOperator, type Tool, type ToolArsenal, type ToolResult } from "../../../src/index.ts";
import type { ServeOptions } from "../../../src/serve/serve-arsenal.ts";
import { say, scriptedLlm } from "../../../src/testing/index.ts";
import { createRunner, type Runner } from "../../../src/toolset/index.ts";
import { runInMemory } from "../terminal.ts";
import { httpClient, sseClient, stdioClient } from "./clients.ts";
import { createPlace, type Place } from "./place.ts";
import { cardsOf, type Remote, REMOTE_CALLS, REMOTE_LISTS } from "./remote.ts";
import { opened } from "./surface.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const TOOLSET = "narrow";
const through = { toolset: TOOLSET };
const QUERY = "Checks, masks and repeats a text";
/** The tools of the toolset, and all others, in the spellings of every surface. */
const INSIDE = /open_own[.-]+echo/;
const OUTSIDE = /check|closed|masked|secret|waits(?!_own)/;

let upstream: Upstream;
let place: Place;
let arsenal: ToolArsenal;
let runner: Runner;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  upstream = await startUpstream("modern");
  place = await createPlace(upstream.url, { max_requests_per_minute: 1_000, self_approval: "local" });
  arsenal = await opened(place.config);
  runner = createRunner(arsenal, TOOLSET);
  for (const way of MCP_WAYS) clients.set(way.name, await way.connect());
  for (const { name, open } of REMOTES) remotes.set(name, await open());
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await arsenal.close();
  await upstream.close();
  await place.remove();
});

/** A gateway of the arsenal, open until the tests end. */
async function serve(options: ServeOptions): Promise<string> {
  const gateway = await arsenal.serve({ port: 0, common: ["*"], ...options });
  ends.push(() => gateway.close());
  return gateway.url ?? "";
}

interface McpWay {
  readonly name: string;
  readonly hasMetaTools?: true;
  readonly connect: () => Promise<Client>;
}

const clients = new Map<string, Client>();
const kept = (client: Client): Client => {
  ends.push(() => client.close());
  return client;
};
const MCP_WAYS: readonly McpWay[] = [
  ...(["modern", "legacy"] as const).flatMap((era) =>
    (["static", "dynamic", "hybrid"] as const).map((mode): McpWay => ({
      name: `/mcp/toolsets/NAME, ${mode}, ${era} client`,
      ...(mode !== "static" && { hasMetaTools: true }),
      connect: async () => kept(await httpClient(era, `${await serve({ mode })}/mcp/toolsets/${TOOLSET}`)),
    })),
  ),
  {
    name: "serve of a toolset, /mcp",
    hasMetaTools: true,
    connect: async () => kept(await httpClient("modern", `${await serve({ mode: "hybrid", ...through })}/mcp`)),
  },
  {
    name: "serve of a toolset, /sse",
    connect: async () => kept(await sseClient(`${await serve({ mode: "static", ...through })}/sse`)),
  },
  ...(["static", "dynamic"] as const).map((mode): McpWay => ({
    name: `serve --stdio --toolset, ${mode}`,
    ...(mode !== "static" && { hasMetaTools: true }),
    connect: async () =>
      kept(await stdioClient(["--config", place.config, "--mode", mode, "--toolset", TOOLSET], place.folder)),
  })),
];

/** Ways to look through the toolset over REST, with the client and over A2A: the caller names it, or there is nothing else. */
const REMOTES: readonly { readonly name: string; readonly open: () => Promise<Remote> }[] = [
  { name: "the toolset that it names", open: async () => ({ url: await serve({}), ...through }) },
  { name: "serve of a toolset", open: async () => ({ url: await serve(through) }) },
];
const remotes = new Map<string, Remote>();
const remoteNamed = (name: string): Remote => remotes.get(name) as Remote;

/** An agent that works through the toolset and whose model calls a tool, if one is named: what it was offered, and how the call ended. */
async function askAgent(
  toolName?: string,
  args: object = {},
): Promise<{ readonly offered: readonly Tool[]; readonly result: ToolResult | undefined }> {
  const llm = scriptedLlm([...(toolName === undefined ? [] : [say("", [toolName, args])]), say("Done.")]);
  let result: ToolResult | undefined;
  for await (const event of createAgent({ llm, arsenal, principal: localOperator(), limit: 50, ...through }).run(
    "Repeats a text.",
  ))
    if (event.type === "call-finished") ({ result } = event);
  return { offered: llm.requests.flatMap(({ tools }) => tools), result };
}

const commandLine = async (...argv: readonly string[]): Promise<string> =>
  (await runInMemory([...argv, "--config", place.config, "--toolset", TOOLSET, "--json"], { folder: place.folder }))
    .out;
const parsed = (json: string): unknown => JSON.parse(json);
const clientOf = ({ name }: McpWay): Client => clients.get(name) as Client;
const WITH_META_TOOLS = MCP_WAYS.filter(({ hasMetaTools = false }) => hasMetaTools);

/** Every way to learn of tools through the toolset, and what it tells. */
const WAYS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["listTools", () => arsenal.listTools(through)],
  ["retrieve", () => arsenal.retrieve({ context: { query: QUERY }, limit: 20, ...through })],
  [
    "retrieve, explained, with whatever is nearest",
    () => arsenal.retrieve({ context: { query: QUERY }, explain: true, scoreThreshold: 1, ...through }),
  ],
  ["retrieveTools", () => arsenal.retrieveTools(QUERY, { limit: 20, refuse: "never", ...through })],
  [
    "exportTools",
    () =>
      arsenal.exportTools("openai", ["open_own.echo", "open.check", "closed.echo"], through).then(({ tools }) => tools),
  ],
  ["toolarsenal list", () => commandLine("list").then(parsed)],
  ["toolarsenal search", () => commandLine("search", QUERY, "--limit", "20").then(parsed)],
  ["toolarsenal export", () => commandLine("export", "--dialect", "openai").then(parsed)],
  ["createAgent", () => askAgent().then(({ offered }) => offered)],
  ...REMOTES.flatMap(({ name: where }) =>
    REMOTE_LISTS.map(
      ([name, tell]) =>
        [
          `${name}, through ${where}`,
          () => tell(remoteNamed(where), QUERY, ["open_own.echo", "open.check", "closed.echo"]),
        ] as const,
    ),
  ),
  [
    "the extended cards of serve of a toolset",
    () => cardsOf(remoteNamed("serve of a toolset")).then(({ extended }) => extended),
  ],
  ["runner.listTools", () => runner.listTools()],
  ["runner.retrieve", () => runner.retrieve({ context: { query: QUERY }, limit: 20, refuse: "never" })],
  ["runner.retrieveTools", () => runner.retrieveTools(QUERY, { limit: 20, refuse: "never" })],
  ["runner.definitions", () => runner.definitions("anthropic")],
  ...MCP_WAYS.filter(({ name }) => !name.includes("dynamic")).map(
    (way) => [`tools/list at ${way.name}`, () => clientOf(way).listTools()] as const,
  ),
  ...WITH_META_TOOLS.map(
    (way) =>
      [
        `find_relevant_tools at ${way.name}`,
        () => clientOf(way).callTool({ name: "find_relevant_tools", arguments: { query: QUERY, limit: 50 } }),
      ] as const,
  ),
];

describe("a tool outside the toolset", () => {
  it.each(WAYS)("is absent from %s, where one inside is not [003-toolset-search]", async (_name, tell) => {
    const { query: _query, ...told } = (await tell()) as Record<string, unknown>;
    const text = JSON.stringify(told).replaceAll(QUERY, "");
    expect(text).toMatch(INSIDE);
    expect(text).not.toMatch(OUTSIDE);
  });

  it("is absent from the card for anybody of serve of a toolset", async () => {
    expect((await cardsOf(remoteNamed("serve of a toolset"))).open).not.toMatch(OUTSIDE);
  });

  it.each(REMOTES)("is not got by its id over REST, through $name", async ({ name }) => {
    const { url, toolset } = remoteNamed(name);
    const query = toolset === undefined ? "" : `?toolset=${toolset}`;
    const statusOf = async (id: string): Promise<number> =>
      (await fetch(`${url}/api/v1/tools/${encodeURIComponent(id)}${query}`)).status;
    expect(await Promise.all(["open.echo", "open.check", "closed.echo", "open.mcp/request"].map(statusOf))).toEqual([
      200, 404, 404, 404,
    ]);
  });

  it("is not got by its id, nor are the resources and prompts of its server", async () => {
    for (const [name, namespace] of [
      ["check", "open"],
      ["echo", "closed"],
      ["resources/read", "open"],
      ["mcp/request", "open"],
    ] as const) {
      expect(await arsenal.getTool(name, namespace, through)).toBeUndefined();
      expect(await runner.getTool(name, namespace)).toBeUndefined();
    }
    expect((await runner.getTool("echo", "open"))?.id).toBe("open.echo");
  });
});

/** What a caller learns of a refused call. */
interface Refused {
  readonly code: unknown;
  readonly text: string;
}
const refusedAs = (told: object, code: unknown): Refused => ({ code, text: JSON.stringify(told) });
type Result = Awaited<ReturnType<Runner["execute"]>>;
const ofResult = ({ status, error, result }: Result): Refused => refusedAs({ status, error, result }, error?.code);

async function atMcp(client: Client, name: string, args: object): Promise<Refused> {
  try {
    const { content, _meta } = await client.callTool({ name, arguments: { ...args } });
    const told = _meta?.["toolarsenal/error"] as { readonly code: string } | undefined;
    return refusedAs({ content, told }, told?.code);
  } catch (error) {
    const { code, message } = error as { readonly code: number; readonly message: string };
    return refusedAs({ message }, code === -32_602 && message.includes("Unknown tool") ? "TOOL_NOT_FOUND" : code);
  }
}

/** Every way to run a tool through the toolset. */
const CALLS: readonly (readonly [string, (toolName: string, args: object) => Promise<Refused>])[] = [
  [
    "execute",
    async (toolName, args) => ofResult(await arsenal.execute({ toolName, arguments: { ...args }, ...through })),
  ],
  ...(["parallel", "sequential", "adaptive"] as const).map(
    (strategy) =>
      [
        `executeBatch, ${strategy}`,
        async (toolName: string, args: object) => {
          const calls = [{ toolName, arguments: { ...args }, ...through }];
          return ofResult((await arsenal.executeBatch({ calls, strategy })).results[0] as Result);
        },
      ] as const,
  ),
  ["runner.execute", async (toolName, args) => ofResult(await runner.execute({ toolName, arguments: { ...args } }))],
  [
    "runner.executeBatch",
    async (toolName, args) => {
      const { results } = await runner.executeBatch({ calls: [{ toolName, arguments: { ...args } }] });
      return ofResult(results[0] as Result);
    },
  ],
  [
    "toolarsenal call",
    async (toolName, args) =>
      ofResult(JSON.parse(await commandLine("call", toolName, "--args", JSON.stringify(args))) as Result),
  ],
  ["createAgent", async (toolName, args) => ofResult((await askAgent(toolName, args)).result as Result)],
  ...REMOTES.flatMap(({ name: where }) =>
    REMOTE_CALLS.map(
      ([name, call]) =>
        [
          `${name}, through ${where}`,
          async (toolName: string, args: object) =>
            ofResult((await call(remoteNamed(where), { toolName, arguments: { ...args } })) as Result),
        ] as const,
    ),
  ),
  ...MCP_WAYS.map(
    (way) => [`tools/call at ${way.name}`, (name: string, args: object) => atMcp(clientOf(way), name, args)] as const,
  ),
  ...WITH_META_TOOLS.map(
    (way) =>
      [
        `execute_tool at ${way.name}`,
        (name: string, args: object) => atMcp(clientOf(way), "execute_tool", { tool_name: name, arguments: args }),
      ] as const,
  ),
];

/** Every name by which a tool can be called, and one that is almost a tool's. */
const NAMES: readonly string[] = [
  "open.check",
  "open-check",
  "open_own.check",
  "open_own.check:1.0.0",
  "check",
  "chek",
  "open.chek",
  "open.tools/call/check",
  "open.resources/read",
  "open.prompts/get",
  "open.mcp/request",
  "closed.echo",
  "closed-echo",
  "secret.echo",
  "nothing.at_all",
];

describe("calling through a toolset", () => {
  it.each(CALLS)("by %s finds no tool outside it, by no name, and learns of none", async (_way, call) => {
    const before = upstream.reached.length;
    for (const name of NAMES) {
      const { code, text } = await call(name, { text: "hi", uri: "note://one", name: "hello", method: "x/y" });
      expect([name, code]).toEqual([name, "TOOL_NOT_FOUND"]);
      // The answer repeats the name that was asked for, or the id that an alias spells, and nothing else of what is outside.
      expect(text.replaceAll(name, "").replaceAll(name.replace("-", "."), "")).not.toMatch(OUTSIDE);
    }
    expect(upstream.reached.length).toBe(before);
  });

  it.each(CALLS)("by %s runs a tool inside it", async (_way, call) => {
    const { code, text } = await call("open_own.echo", { text: "hi" });
    expect(code).toBeUndefined();
    expect(text).toContain("hi");
  });

  it.each(MCP_WAYS)("completes nothing and reads no resource at $name", async (way) => {
    const client = clientOf(way);
    const asked = (method: string, params: object): Promise<unknown> => client.request({ method, params } as never);
    const whole = kept(await httpClient("modern", `${await serve({ mode: "static" })}/mcp`));
    const [{ uri } = { uri: "" }] = (await whole.listResources()).resources;
    const before = upstream.reached.length;
    const argument = { name: "who", value: "" };
    for (const ref of [
      { type: "ref/resource", uri },
      { type: "ref/prompt", name: "open-hello" },
    ])
      await expect(asked("completion/complete", { ref, argument })).rejects.toThrow();
    await expect(asked("resources/read", { uri })).rejects.toThrow("Resource not found");
    await expect(asked("prompts/get", { name: "open-hello" })).rejects.toThrow();
    expect(upstream.reached.length).toBe(before);
  });
});

describe("what was done outside a toolset", () => {
  it("is not replayed through it by an idempotency key", async () => {
    const call = { toolName: "open_own.check", arguments: { text: "private" }, idempotencyKey: "key-1" };
    expect(await arsenal.execute(call)).toMatchObject({ result: "private" });
    const replayed = await runner.execute(call);
    expect(replayed).toMatchObject({ status: "failure", error: { code: "TOOL_NOT_FOUND" } });
    expect(JSON.stringify(replayed)).not.toContain("private");
  });

  it("leaves approvals good that a call through it cannot use", async () => {
    const call = { toolName: "waits_own.check", arguments: { text: "hi" } };
    const { confirmationId = "" } = await arsenal.execute(call);
    await arsenal.approvals.approve(confirmationId, localOperator());
    expect(await runner.execute({ ...call, confirmationId })).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(await arsenal.execute({ ...call, confirmationId })).toMatchObject({ status: "success" });
  });
});

describe("an approval that was asked for through a toolset", () => {
  it("lets that call run through it", async () => {
    const call = { toolName: "waits_own.echo", arguments: { text: "approved" } };
    const asked = await runner.execute(call);
    expect(asked.status).toBe("pending_confirmation");
    await arsenal.approvals.approve(asked.confirmationId ?? "", localOperator());
    expect(await runner.execute({ ...call, confirmationId: asked.confirmationId ?? "" })).toMatchObject({
      result: "approved",
    });
  });
});

describe("the audit log", () => {
  it("names the toolset of every call that came through one, and of no other", async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    await arsenal.close();
    const records = await place.records();
    const refused = records.filter(({ toolId }) => toolId === "open.check");
    // By id and by alias at least, each way.
    expect(refused.length).toBeGreaterThanOrEqual(2 * CALLS.length);
    for (const { toolset, decision } of refused)
      expect({ toolset, decision }).toEqual({ toolset: TOOLSET, decision: { effect: "denied", rule: "not-visible" } });
    const elsewhere = records.filter(({ toolset }) => toolset === undefined);
    expect(elsewhere.map(({ toolId }) => toolId)).toEqual(["open_own.check", "waits_own.check", "waits_own.check"]);
  });
});
