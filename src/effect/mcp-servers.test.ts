import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Effect, Fiber, Layer, Stream } from "effect";
import { afterEach, describe, expect, it } from "vitest";
import { holdStdio } from "../../test/e2e/held-server.ts";
import { markedProcesses } from "../../test/e2e/open-descriptors.ts";
import { call, GRANTED, QUIET, runService } from "../../test/effect/run-service.ts";
import { startLegacyServer, type UpstreamServer } from "../../test/mcp/upstream-server.ts";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import {
  EventBus,
  EventBusLive,
  IdentityServiceLive,
  type MCPServerConfig,
  type ToolEvent,
  ToolService,
  toolServiceFrom,
} from "./index.ts";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function startServer(): Promise<UpstreamServer> {
  const server = await startLegacyServer();
  endings.push(() => server.close());
  return server;
}

const sample = ({ url }: UpstreamServer): MCPServerConfig => ({ name: "sample", transport: "http", endpoint: url });

describe("an MCP server", () => {
  it("comes with its version, tools and status, disconnects on request, and both are published", async () => {
    const server = await startServer();
    const seen: ToolEvent[] = [];
    await runService(
      Effect.gen(function* () {
        const [tools, bus] = [yield* ToolService, yield* EventBus];
        const subscriber = yield* bus.subscribe.pipe(
          Stream.take(2),
          Stream.runForEach((event) => Effect.sync(() => seen.push(event))),
          Effect.forkChild({ startImmediately: true }),
        );
        const connected = yield* tools.connectMCPServer(sample(server));
        expect(connected).toEqual({
          ...sample(server),
          version: "1.0.0",
          tools: ["echo", "wait", "report", "ask", "fail"],
          status: "connected",
        });
        expect(yield* tools.listMCPServers()).toEqual([connected]);
        yield* tools.disconnectMCPServer("sample");
        expect(yield* tools.listMCPServers()).toEqual([{ ...connected, status: "disconnected" }]);
        expect(yield* tools.listTools()).toEqual([]);
        yield* Fiber.join(subscriber);
        const again = yield* Effect.flip(tools.disconnectMCPServer("sample"));
        expect(again).toMatchObject({ _tag: "MCPConnectionError", serverName: "sample", transport: "http" });
      }),
    );
    expect(seen).toEqual([
      {
        type: "tools.mcp-connected",
        payload: { serverName: "sample", tools: ["echo", "wait", "report", "ask", "fail"] },
      },
      { type: "tools.mcp-disconnected", payload: { serverName: "sample" } },
    ]);
  });

  it("has tools that are called server/tool, by their ids, or by the names models see", async () => {
    const server = await startServer();
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.connectMCPServer(sample(server));
        expect(yield* tools.getTool("sample/echo")).toMatchObject({ name: "sample/echo", source: "mcp" });
        for (const name of ["sample/echo", "sample.echo", "sample-echo", "echo"]) {
          const { result, metadata } = yield* tools.execute(call(name, { text: "hi" }));
          expect(result).toMatchObject({ structuredContent: { text: "hi" } });
          expect(metadata).toMatchObject({ toolId: "sample.echo" });
        }
        const failed = yield* Effect.flip(tools.execute(call("sample/fail")));
        expect(failed).toMatchObject({ _tag: "ToolExecutionError", message: expect.stringContaining("did not work") });
        const missing = yield* Effect.flip(tools.execute(call("sample/nothing")));
        expect(missing).toMatchObject({ _tag: "ToolNotFoundError", toolName: "sample/nothing" });
      }),
      { identity: GRANTED },
    );
  });

  it("refuses agents that were not granted what its tools need", async () => {
    const server = await startServer();
    const refused = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.connectMCPServer(sample(server));
        return yield* Effect.flip(tools.execute(call("sample/echo", { text: "hi" })));
      }),
    );
    expect(refused).toMatchObject({
      _tag: "ToolAuthorizationError",
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("network_access") as string,
    });
  });

  it("that cannot be reached, is not fully described or has a taken name is refused with its name", async () => {
    const server = await startServer();
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.connectMCPServer(sample(server));
        const configs: MCPServerConfig[] = [
          { name: "absent", transport: "stdio", command: "no-such-program" },
          { name: "vague", transport: "websocket" },
          sample(server),
        ];
        const errors = yield* Effect.forEach(configs, (config) => Effect.flip(tools.connectMCPServer(config)));
        expect(errors).toMatchObject([
          { _tag: "MCPConnectionError", serverName: "absent", transport: "stdio", code: "SOURCE_UNAVAILABLE" },
          { serverName: "vague", transport: "websocket", message: expect.stringContaining("endpoint is missing") },
          { serverName: "sample", transport: "http", code: "CONFIG_INVALID" },
        ]);
        expect((yield* tools.listMCPServers()).map(({ name, status }) => [name, status])).toEqual([
          ["sample", "connected"],
        ]);
      }),
    );
  });

  it("is disconnected with the layer, also from an arsenal that stays open", async () => {
    const server = await startServer();
    const arsenal = new ToolArsenal(QUIET);
    endings.push(() => arsenal.close());
    const layer = toolServiceFrom(arsenal).pipe(Layer.provide([EventBusLive, IdentityServiceLive]));
    const program = Effect.flatMap(ToolService, (tools) => tools.connectMCPServer(sample(server)));
    expect(await Effect.runPromise(Effect.provide(program, layer))).toMatchObject({ status: "connected" });
    expect([internalsOf(arsenal).upstreams, arsenal.toolCount, server.sessions]).toEqual([[], 0, 0]);
  });

  it("leaves no process behind when connecting is interrupted [002-effect-scope]", async () => {
    const held = await holdStdio();
    endings.push(() => held.close());
    const mark = `MARK_${randomUUID()}`;
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const { command, args } = held;
        const config: MCPServerConfig = { name: "held", transport: "stdio", command, args, env: { [mark]: "1" } };
        const fiber = yield* Effect.forkChild(Effect.scoped(tools.connectMCPServerScoped(config)));
        yield* Effect.promise(() => held.asked);
        expect(markedProcesses(mark)).toHaveLength(1);
        yield* Fiber.interrupt(fiber);
        expect(markedProcesses(mark)).toEqual([]);
        expect(yield* tools.listMCPServers()).toEqual([]);
      }),
    );
  });

  it("of a scope is not mistaken for another that has its name by now", async () => {
    const server = await startServer();
    const command = { name: "sample", transport: "stdio", command: process.execPath } as const;
    const tiny = { ...command, args: [fileURLToPath(new URL("../../test/e2e/tiny-server.ts", import.meta.url))] };
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* tools.connectMCPServerScoped(tiny);
            yield* tools.disconnectMCPServer("sample");
            yield* tools.connectMCPServer(sample(server));
          }),
        );
        expect(yield* tools.listMCPServers()).toMatchObject([
          { name: "sample", transport: "http", status: "connected" },
        ]);
      }),
    );
  });
});
