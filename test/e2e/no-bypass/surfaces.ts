import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { Effect, Layer } from "effect";
import { openaiEvents } from "../../../examples/support/openai-events.ts";
import { serveScript } from "../../../examples/support/scripted-model.ts";
import { type AgentEvent, type AgentOptions, createAgent, type LlmTurn } from "../../../src/agent/index.ts";
import { createClient } from "../../../src/client/index.ts";
import { EventBusLive, IdentityService, ToolService, toolServiceFrom } from "../../../src/effect/index.ts";
import { statusOf } from "../../../src/execute/results/to-result-error.ts";
import { type ErrorCode, localOperator, type ToolArsenal } from "../../../src/index.ts";
import type { CodeResult } from "../../../src/programs/code-mode.ts";
import { toAlias } from "../../../src/adapters/dialects/index.ts";
import type { ServeOptions } from "../../../src/serve/serve-arsenal.ts";
import { say, scriptedLlm } from "../../../src/testing/index.ts";
import { createRunner, type Runner } from "../../../src/toolset/runner.ts";
import { runInMemory } from "../terminal.ts";
import { httpClient, sseClient, stdioClient } from "./clients.ts";
import type { Place } from "./place.ts";
import { ofProgram, programOf } from "./program.ts";
import { REMOTE_CALLS } from "./remote.ts";
import { type Call, calledAs, opened, type OpenSurface, type Result, type Surface, toSeen } from "./surface.ts";
import { byWorkflow } from "./workflow.ts";

/** Every way to run tools that there is. Whatever comes is added here, or the test of all surfaces fails. */
export const SURFACES: readonly Surface[] = [
  { name: "execute", open: (place) => library(place, (arsenal, call) => arsenal.execute(call)) },
  ...(["parallel", "sequential", "adaptive"] as const).map((strategy): Surface => ({
    name: `executeBatch, ${strategy}`,
    open: (place) =>
      library(place, async (arsenal, call) => {
        const { results } = await arsenal.executeBatch({ calls: [call], strategy });
        return results[0];
      }),
  })),
  {
    name: "createRunner, execute",
    open: (place) => library(place, (arsenal, call) => runnerOf(arsenal).execute(call)),
  },
  {
    name: "createRunner, executeBatch",
    open: (place) =>
      library(place, async (arsenal, call) => (await runnerOf(arsenal).executeBatch({ calls: [call] })).results[0]),
  },
  {
    name: "runCode",
    open: (place) =>
      library(place, async (arsenal, call) => ofProgram(await arsenal.runCode({ code: programOf(call) }))),
  },
  byWorkflow,
  { name: "toolarsenal/effect", open: (place) => library(place, byEffect) },
  served("/mcp, static, modern client", { mode: "static" }, (url) => httpClient("modern", `${url}/mcp`), byAlias),
  served("/mcp, static, legacy client", { mode: "static" }, (url) => httpClient("legacy", `${url}/mcp`), byAlias),
  served("/mcp, hybrid", { mode: "hybrid", common: ["*"] }, (url) => httpClient("modern", `${url}/mcp`), byAlias),
  served("/mcp, execute_tool", { mode: "dynamic" }, (url) => httpClient("modern", `${url}/mcp`), byMetaTool),
  served("/mcp, run", { mode: "code" }, (url) => httpClient("modern", `${url}/mcp`), byProgram),
  served(
    "/mcp/toolsets/NAME, run",
    { mode: "code" },
    (url) => httpClient("modern", `${url}/mcp/toolsets/everything`),
    byProgram,
  ),
  overHttp("toolarsenal/client, runCode", async (url, call) =>
    ofProgram(await createClient({ url }).runCode({ code: programOf(call) })),
  ),
  overHttp("POST /api/v1/programs", async (url, call) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ code: programOf(call) });
    return ofProgram(
      (await (await fetch(`${url}/api/v1/programs`, { method: "POST", headers, body })).json()) as CodeResult,
    );
  }),
  served("/sse", { mode: "static" }, (url) => sseClient(`${url}/sse`), byAlias),
  ...(["modern", "legacy"] as const).map((era) =>
    served(
      `/mcp/toolsets/NAME, ${era} client`,
      { mode: "static" },
      (url) => httpClient(era, `${url}/mcp/toolsets/everything`),
      byAlias,
    ),
  ),
  served(
    "/mcp/toolsets/NAME, execute_tool",
    { mode: "dynamic" },
    (url) => httpClient("modern", `${url}/mcp/toolsets/everything`),
    byMetaTool,
  ),
  served(
    "serve, toolset",
    { mode: "static", toolset: "everything" },
    (url) => httpClient("modern", `${url}/mcp`),
    byAlias,
  ),
  transparent("modern"),
  transparent("legacy"),
  ...REMOTE_CALLS.map(([name, run]) => overHttp(name, (url, call) => run({ url }, call))),
  overHttp("createAgent, toolarsenal/client", async (url, { toolName, arguments: args }) => {
    return (await byAgent(createClient({ url }), say("", [toolName, args]))) as Result;
  }),
  {
    name: "serve --stdio",
    async open({ config, folder }) {
      const client = await stdioClient(["--config", config, "--mode", "static"], folder);
      await listed(client, ["open-echo", "closed-echo", "waits-echo"]);
      return { call: byAlias(client), close: () => client.close() };
    },
  },
  {
    name: "toolarsenal call",
    oneCallEach: true,
    open: async ({ config }) => ({
      async call(namespace, name, args) {
        const argv = ["call", `${namespace}.${name}`, "--args", JSON.stringify(args), "--config", config, "--json"];
        return toSeen(JSON.parse(await outputOf(argv)) as Result);
      },
      close: async () => undefined,
    }),
  },
  {
    name: "toolarsenal run",
    oneCallEach: true,
    open: async ({ config, folder }) => ({
      async call(namespace, name, args) {
        const file = join(folder, "program.ts");
        await writeFile(file, programOf({ toolName: `${namespace}.${name}`, arguments: { ...args } }));
        return toSeen(ofProgram(JSON.parse(await outputOf(["run", file, "--config", config, "--json"])) as CodeResult));
      },
      close: async () => undefined,
    }),
  },
  {
    name: "createAgent",
    open: (place) =>
      library(place, (arsenal, { toolName, arguments: args = {} }) => byAgent(arsenal, say("", [toolName, args]))),
  },
  {
    name: "createAgent, a call in words",
    open: (place) =>
      library(place, (arsenal, { toolName: name, arguments: args }) =>
        byAgent(arsenal, say(JSON.stringify({ function_call: { name, arguments: JSON.stringify(args) } }))),
      ),
  },
  {
    name: "createAgent, toolset",
    open: (place) =>
      library(place, (arsenal, { toolName, arguments: args = {} }) =>
        byAgent(arsenal, say("", [toAlias(toolName), args]), { toolset: "everything" }),
      ),
  },
  {
    name: "toolarsenal chat",
    oneCallEach: true,
    open: async ({ config }) => ({
      async call(namespace, name, args) {
        const calls = [{ id: "call_1", name: `${namespace}.${name}`, arguments: args }];
        const model = await serveScript([{ calls }], openaiEvents);
        const ask = ["chat", "Repeat a text", "--model", "scripted", "--api-base", model.url];
        const printed = await outputOf([...ask, "--config", config, "--json"]);
        model.close();
        const events = printed
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as AgentEvent);
        return toSeen(finishedCall(events) ?? ({ status: "nothing" } as unknown as Result));
      },
      close: async () => undefined,
    }),
  },
];

const finishedCall = (events: readonly AgentEvent[]): Result | undefined =>
  events.find((event) => event.type === "call-finished")?.result;

/** How the one call of a model's turn ends. */
async function byAgent(
  arsenal: AgentOptions["arsenal"],
  turn: LlmTurn,
  options: Partial<AgentOptions> = {},
): Promise<Result | undefined> {
  const events: AgentEvent[] = [];
  const caller = arsenal.remote === true ? {} : { principal: localOperator() };
  const agent = createAgent({ llm: scriptedLlm([turn, "Done."]), arsenal, ...caller, ...options });
  await agent.run("Repeat a text", { onEvent: (event) => events.push(event) }).result;
  return finishedCall(events);
}

async function library(
  { config }: Place,
  run: (arsenal: ToolArsenal, call: Call) => Promise<Result | undefined>,
): Promise<OpenSurface> {
  const arsenal = await opened(config);
  return {
    async call(namespace, name, args) {
      const result = await run(arsenal, { toolName: `${namespace}.${name}`, arguments: { ...args } });
      return result === undefined ? { status: "nothing" } : toSeen(result);
    },
    close: () => arsenal.close(),
  };
}

/** The local operator's call through the Effect service. Its errors have no status, which follows from their code. */
function byEffect(arsenal: ToolArsenal, { toolName, arguments: args = {} }: Call): Promise<Result> {
  const principal = () => Effect.succeed(localOperator());
  const identity = Layer.succeed(IdentityService, {
    authorize: () => Effect.void,
    audit: () => Effect.void,
    principal,
  });
  const input = { toolName, arguments: args, agentId: "agent", sessionId: "session" };
  const called = Effect.flatMap(ToolService, (tools) => tools.execute(input));
  const seen = Effect.match(called, {
    onSuccess: (): Result => ({ status: "success" }),
    onFailure: ({ code = "EXECUTION_FAILED", message, ...error }): Result => ({
      status: code === "CONFIRMATION_REQUIRED" ? "pending_confirmation" : statusOf(code satisfies ErrorCode),
      error: { code, message },
      ...("confirmationId" in error && { confirmationId: String(error.confirmationId) }),
    }),
  });
  return Effect.runPromise(
    Effect.provide(seen, toolServiceFrom(arsenal).pipe(Layer.provide([EventBusLive, identity]))),
  );
}

const runnerOf = (arsenal: ToolArsenal): Runner => createRunner(arsenal, "everything");

function served(
  name: string,
  options: ServeOptions,
  connect: (url: string) => Promise<Client>,
  calling: (client: Client) => OpenSurface["call"],
): Surface {
  return {
    name,
    async open({ config }) {
      const arsenal = await opened(config);
      const gateway = await arsenal.serve({ port: 0, ...options });
      const client = await connect(gateway.url ?? "");
      return {
        call: calling(client),
        async close() {
          await client.close();
          await gateway.close();
          await arsenal.close();
        },
      };
    },
  };
}

function overHttp(
  name: string,
  run: (url: string, call: { toolName: string; arguments: Record<string, unknown> }) => Promise<Result>,
): Surface {
  return {
    name,
    async open({ config }) {
      const arsenal = await opened(config);
      const gateway = await arsenal.serve({ port: 0 });
      return {
        async call(namespace, tool, args) {
          return toSeen(await run(gateway.url ?? "", { toolName: `${namespace}.${tool}`, arguments: { ...args } }));
        },
        async close() {
          await gateway.close();
          await arsenal.close();
        },
      };
    },
  };
}

/** One address a server, so one client for each. */
function transparent(era: "legacy" | "modern"): Surface {
  return {
    name: `/mcp/upstreams/NAME, ${era} client`,
    serversOnly: true,
    leavesChecks: true,
    async open({ config }) {
      const arsenal = await opened(config);
      const gateway = await arsenal.serve({ port: 0 });
      const clients = new Map<string, Client>();
      return {
        async call(namespace, name, args) {
          const client = clients.get(namespace) ?? (await httpClient(era, `${gateway.url}/mcp/upstreams/${namespace}`));
          clients.set(namespace, client);
          return calledAs(client, name, args);
        },
        async close() {
          for (const client of clients.values()) await client.close();
          await gateway.close();
          await arsenal.close();
        },
      };
    },
  };
}

/** Waits until a server lists these tools: over stdio it answers before its own servers have come. */
async function listed(client: Client, names: readonly string[]): Promise<void> {
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    });
    const { tools } = await client.listTools();
    if (names.every((name) => tools.some((tool) => tool.name === name))) return;
    await changed;
  }
}

function byAlias(client: Client): OpenSurface["call"] {
  return (namespace, name, args) => calledAs(client, toAlias(`${namespace}.${name}`), args);
}

function byMetaTool(client: Client): OpenSurface["call"] {
  return (namespace, name, args) =>
    calledAs(client, "execute_tool", { tool_name: `${namespace}.${name}`, arguments: args });
}

function byProgram(client: Client): OpenSurface["call"] {
  return async (namespace, name, args) => {
    const code = programOf({ toolName: `${namespace}.${name}`, arguments: { ...args } });
    const { structuredContent } = await client.callTool({ name: "run", arguments: { code } });
    return toSeen(ofProgram({ status: "success", ...(structuredContent as object) }));
  };
}

/** The output of a command line, which may refuse a call. */
async function outputOf(argv: readonly string[]): Promise<string> {
  const { code, out, err } = await runInMemory(argv, { environment: { TOOLARSENAL_TIER: "lexical" } });
  if (code > 1) throw new Error(err);
  return out;
}
