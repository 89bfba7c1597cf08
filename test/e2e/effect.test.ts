import { internalsOf } from "../../src/arsenal.ts";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Effect, Fiber, Layer } from "effect";
import { afterEach, describe, expect, it } from "vitest";
import { EventBusLive, type MCPServerConfig, ToolService, toolServiceFrom } from "../../src/effect/index.ts";
import { ToolArsenal } from "../../src/index.ts";
import { GRANTED } from "../effect/run-service.ts";
import { repeats } from "../kit/effort.ts";
import { startLegacyServer, startModernServer, type UpstreamServer } from "../mcp/upstream-server.ts";
import { markedProcesses, openDescriptors } from "./open-descriptors.ts";
import { eventually } from "./replicas/eventually.ts";

const TINY = fileURLToPath(new URL("./tiny-server.ts", import.meta.url));

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

function createArsenal(): ToolArsenal {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  endings.push(() => arsenal.close());
  return arsenal;
}

function run<A, E>(program: Effect.Effect<A, E, ToolService>, arsenal = createArsenal()): Promise<A> {
  const layer = toolServiceFrom(arsenal).pipe(Layer.provide([EventBusLive, GRANTED]));
  return Effect.runPromise(Effect.provide(program, layer));
}

async function start(era: "legacy" | "modern"): Promise<UpstreamServer> {
  const server = await (era === "legacy" ? startLegacyServer() : startModernServer());
  endings.push(() => server.close());
  return server;
}

/** What this process holds open: descriptors, and listeners for the events of the process. */
function held(): { readonly descriptors: number; readonly listeners: number } {
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return { descriptors: openDescriptors(), listeners };
}

describe("the Effect service with real MCP servers", () => {
  it.each(["legacy", "modern"] as const)(
    "cancels the call at a %s server when its fiber is interrupted [002-effect-interrupt]",
    async (era) => {
      const server = await start(era);
      const [called, cancelled] = [once(server.events, "called"), once(server.events, "cancelled")];
      await run(
        Effect.gen(function* () {
          const tools = yield* ToolService;
          yield* tools.connectMCPServer({ name: "sample", transport: "http", endpoint: server.url });
          const fiber = yield* Effect.forkChild(
            tools.execute({ toolName: "sample/wait", arguments: {}, agentId: "a", sessionId: "s" }),
          );
          expect(yield* Effect.promise(() => called)).toEqual(["wait"]);
          yield* Fiber.interrupt(fiber);
          expect(yield* Effect.promise(() => cancelled)).toEqual([]);
        }),
      );
    },
  );

  it("leaves no process, connection or listener behind after many scoped connects [002-effect-scope]", async () => {
    const mark = `MARK_${randomUUID()}`;
    const http = (server: UpstreamServer, index: number) =>
      ({ name: `http-${index}`, transport: "http", endpoint: server.url }) satisfies MCPServerConfig;
    const stdio = (index: number): MCPServerConfig => ({
      name: `stdio-${index}`,
      transport: "stdio",
      command: process.execPath,
      args: [TINY],
      env: { [mark]: "1" },
    });
    const connectAll = (configs: readonly MCPServerConfig[], concurrency: number) =>
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const connect = (config: MCPServerConfig) =>
          Effect.scoped(Effect.map(tools.connectMCPServerScoped(config), ({ status }) => status));
        return yield* Effect.forEach(configs, connect, { concurrency });
      });
    /** Everything that is started is ended again, the servers too. */
    const round = async (count: number, programs: number): Promise<readonly string[]> => {
      const arsenal = createArsenal();
      const [legacy, modern] = [await startLegacyServer(), await startModernServer()];
      const indexes = Array.from({ length: count }, (_, index) => index);
      const configs = indexes.map((index) => http(index % 5 === 0 ? legacy : modern, index));
      const statuses = await run(connectAll(configs, 10), arsenal);
      const children = Array.from({ length: programs }, (_, index) => stdio(index));
      const started = await run(connectAll(children, 5), arsenal);
      expect([internalsOf(arsenal).upstreams, arsenal.toolCount, legacy.sessions]).toEqual([[], 0, 0]);
      expect(markedProcesses(mark)).toEqual([]);
      await arsenal.close();
      await Promise.all([legacy.close(), modern.close()]);
      return [...statuses, ...started];
    };

    await round(2, 1);
    const before = held();
    const [count, programs] = [repeats(100), repeats(5, 20)];
    const statuses = await round(count, programs);
    expect(statuses).toEqual(Array.from({ length: count + programs }, () => "connected"));
    // The kernel ends sockets a moment after both sides closed them; what leaks stays.
    await eventually("nothing is held that was not held before", () => held().descriptors <= before.descriptors);
    expect(held().listeners).toEqual(before.listeners);
  });
});
