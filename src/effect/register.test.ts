import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cause, Context, Effect, Exit, Layer, Schema } from "effect";
import { describe, expect, it } from "vitest";
import { call, echo, QUIET, runService, WEB_SEARCH } from "../../test/effect/run-service.ts";
import { startLegacyServer } from "../../test/mcp/upstream-server.ts";
import { ToolArsenal } from "../arsenal.ts";
import {
  EventBusLive,
  FunctionCallingToolSchema,
  IdentityServiceLive,
  type ToolDefinition,
  ToolDefinitionSchema,
  ToolInputSchema,
  ToolOutputSchema,
  ToolService,
  toolServiceFrom,
  toolServiceFromConfig,
} from "./index.ts";

class Greeting extends Context.Service<Greeting, { readonly word: string }>()("test/Greeting") {}

const SERVICES = Layer.merge(EventBusLive, IdentityServiceLive);

describe("register", () => {
  it("takes parameters as a Schema, whose type the handler's arguments have", async () => {
    const parameters = Schema.Struct({
      city: Schema.String.annotate({ description: "The city." }),
      days: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))),
      since: Schema.DateFromString,
    });
    const forecast = { ...WEB_SEARCH, name: "forecast", description: "Forecasts the weather of a city.", parameters };
    const outcome = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(forecast, ({ city, days = 1, since }) =>
          Effect.succeed(`${city.toUpperCase()}, ${days + 1}, ${since.getUTCFullYear()}`),
        );
        const listed = yield* tools.getTool("forecast");
        const run = (args: Record<string, unknown>) => tools.execute(call("forecast", args));
        const { result } = yield* run({ city: "Oslo", days: 2, since: "2026-11-17T00:00:00Z" });
        const refused = yield* Effect.flip(run({ city: "Oslo", days: 9, since: "2026-11-17T00:00:00Z" }));
        return { listed: listed.parameters, result, refused: refused._tag };
      }),
    );
    expect(outcome).toMatchObject({ result: "OSLO, 3, 2026", refused: "ToolValidationError" });
    expect(outcome.listed).toMatchObject([
      { name: "city", type: "string", description: "The city.", required: true },
      { name: "days", type: "number", required: false },
      { name: "since", type: "string", required: true },
    ]);
  });

  it("keeps a definition as it was written, and lists by category, source and risk", async () => {
    const plugin: ToolDefinition = {
      ...WEB_SEARCH,
      name: "run-code",
      category: "code",
      riskLevel: "high",
      requiresApproval: true,
      source: "plugin",
      returnType: "string",
    };
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, echo);
        yield* tools.register(plugin, echo);
        expect(yield* tools.getTool("web-search")).toEqual(WEB_SEARCH);
        expect(yield* tools.listTools()).toEqual([plugin, WEB_SEARCH]);
        expect(yield* tools.listTools({ category: "search" })).toEqual([WEB_SEARCH]);
        expect(yield* tools.listTools({ source: "plugin" })).toEqual([plugin]);
        expect(yield* tools.listTools({ riskLevel: "high", category: "search" })).toEqual([]);
        expect(yield* tools.toFunctionCallingFormat()).toMatchObject([
          { name: "run_code" },
          {
            name: "web_search",
            description: WEB_SEARCH.description,
            input_schema: { type: "object", required: ["query"], properties: { maxResults: { type: "number" } } },
          },
        ]);
      }),
    );
  });

  it("gives the handler the services it was registered with, also for calls from outside Effect", async () => {
    const arsenal = new ToolArsenal(QUIET);
    const outside = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const handler = () =>
          Effect.gen(function* () {
            const { traceId } = yield* Effect.orDie(Effect.currentParentSpan);
            return { word: (yield* Greeting).word, traceId };
          });
        yield* tools.register(WEB_SEARCH, handler).pipe(Effect.provideService(Greeting, { word: "hello" }));
        const { result } = yield* tools
          .execute(call("web-search", { query: "x" }))
          .pipe(Effect.provideService(Greeting, { word: "the caller's" }));
        expect(result).toMatchObject({ word: "hello" });
        return yield* Effect.promise(() => arsenal.execute({ toolName: "web_search", arguments: { query: "x" } }));
      }),
      { arsenal },
    );
    expect(outside).toMatchObject({ status: "success", result: { word: "hello", traceId: outside.traceId } });
  });

  it("tells the handler who calls", async () => {
    const { result } = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, (_args, { caller, auxdata }) => Effect.succeed({ caller, auxdata }));
        return yield* tools.execute({ ...call("web-search", { query: "x" }), correlationId: "c-1" });
      }),
    );
    expect(result).toEqual({
      caller: { id: "agent-1" },
      auxdata: { agentId: "agent-1", sessionId: "session-1", correlationId: "c-1" },
    });
  });

  it("dies of a definition that is invalid, with the arsenal's error", async () => {
    const exit = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        return yield* Effect.exit(tools.register({ ...WEB_SEARCH, name: "list", timeoutMs: -1 }, echo));
      }),
    );
    expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({
      name: "ArsenalError",
      code: "TOOL_INVALID",
    });
  });
});

describe("the schemas", () => {
  it("take what the service gives and what it is given, and refuse anything else", async () => {
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const json = JSON.parse(JSON.stringify(WEB_SEARCH)) as unknown;
        yield* tools.register(yield* Schema.decodeUnknownEffect(ToolDefinitionSchema)(json), echo);
        const input = yield* Schema.decodeUnknownEffect(ToolInputSchema)(call("web-search", { query: "x" }));
        const output = yield* tools.execute(input);
        expect(Schema.is(ToolOutputSchema)(output)).toBe(true);
        const [definition] = yield* tools.toFunctionCallingFormat();
        expect(Schema.is(FunctionCallingToolSchema)(definition)).toBe(true);
      }),
    );
    expect(Schema.is(ToolDefinitionSchema)({ ...WEB_SEARCH, riskLevel: "extreme" })).toBe(false);
    expect(Schema.is(ToolInputSchema)({ toolName: "web-search" })).toBe(false);
  });
});

describe("a tool service", () => {
  it("from an arsenal leaves it open, and its tools there, without running them when their services are gone", async () => {
    const arsenal = new ToolArsenal(QUIET);
    arsenal.register({ name: "double", description: "Doubles a number." }, () => 42);
    const layer = toolServiceFrom(arsenal).pipe(Layer.provide(SERVICES));
    const program = Effect.gen(function* () {
      const tools = yield* ToolService;
      yield* tools.register(WEB_SEARCH, () => Effect.succeed("found"));
      return (yield* tools.execute(call("web-search", { query: "x" }))).result;
    });
    expect(await Effect.runPromise(Effect.provide(program, layer))).toBe("found");
    expect((await arsenal.execute({ toolName: "double" })).result).toBe(42);
    const late = await arsenal.execute({ toolName: "web_search", arguments: { query: "x" } });
    expect(late).toMatchObject({ status: "failure", error: { code: "CLOSED" } });
    expect(await Effect.runPromise(Effect.provide(program, layer))).toBe("found");
    await arsenal.close();
  });

  it("leaves a stored catalog as it is when it closes", async () => {
    const server = await startLegacyServer();
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-effect-"));
    const config = join(folder, "arsenal.yaml");
    writeFileSync(config, "telemetry:\n  enabled: false\nvector_store:\n  type: sqlite\n  file: ./tools.db\n");
    const program = Effect.gen(function* () {
      const tools = yield* ToolService;
      yield* tools.register(WEB_SEARCH, echo);
      yield* tools.connectMCPServer({ name: "sample", transport: "http", endpoint: server.url });
      return (yield* tools.listTools()).length;
    });
    const layer = toolServiceFromConfig(config).pipe(Layer.provide(SERVICES));
    expect(await Effect.runPromise(Effect.provide(program, layer))).toBe(6);
    expect(server.sessions).toBe(0);
    const later = await ToolArsenal.fromConfig(config);
    expect(await later.listTools()).toHaveLength(6);
    await later.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it("from a configuration file searches in any dialect, and says what is wrong with the file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-effect-"));
    const [good, bad] = [join(folder, "arsenal.yaml"), join(folder, "bad.yaml")];
    writeFileSync(good, "telemetry:\n  enabled: false\n");
    writeFileSync(bad, "execution:\n  max_retries: many\n");
    const program = Effect.gen(function* () {
      const tools = yield* ToolService;
      yield* tools.register(WEB_SEARCH, echo);
      const { tools: found } = yield* tools.retrieve({ context: { query: "search the web" } });
      const [definition] = yield* tools.retrieveTools("search the web", { dialect: "anthropic" });
      const invalid = yield* Effect.flip(tools.retrieve({ context: { query: "x" }, limit: -1 }));
      return [found[0]?.tool.id, definition?.name, invalid._tag, invalid.code];
    });
    const from = (path: string) => toolServiceFromConfig(path).pipe(Layer.provide(SERVICES));
    expect(await Effect.runPromise(Effect.provide(program, from(good)))).toEqual([
      "default.web_search",
      "web_search",
      "ToolServiceError",
      "QUERY_INVALID",
    ]);
    expect(await Effect.runPromise(Effect.flip(Effect.provide(program, from(bad))))).toMatchObject({
      _tag: "ToolServiceError",
      code: "CONFIG_INVALID",
      message: expect.stringContaining("max_retries"),
    });
    rmSync(folder, { recursive: true });
  });

  it("gives calls trace ids of their own when tracing is off", async () => {
    const program = Effect.gen(function* () {
      const tools = yield* ToolService;
      yield* tools.register(WEB_SEARCH, echo);
      return yield* tools.execute(call("web-search", { query: "x" }));
    });
    const { metadata } = await runService(Effect.withTracerEnabled(program, false));
    expect(metadata?.["traceId"]).toMatch(/^[0-9a-f]{32}$/);
  });
});
