import { Effect, Fiber, Layer, Stream, Tracer } from "effect";
import { describe, expect, it } from "vitest";
import { call, echo, QUIET, runService, WEB_SEARCH } from "../../test/effect/run-service.ts";
import { ToolArsenal } from "../arsenal.ts";
import type { ArsenalEvent } from "../observe/events.ts";
import { type AuditEntry, EventBus, IdentityService, ToolService } from "./index.ts";

describe("what a call reports", () => {
  it("reaches subscribers as tools.executed and tools.failed [002-effect-service]", async () => {
    const events = await runService(
      Effect.gen(function* () {
        const [tools, bus] = [yield* ToolService, yield* EventBus];
        const subscriber = yield* bus.subscribe.pipe(
          Stream.take(2),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true }),
        );
        yield* tools.register(WEB_SEARCH, echo);
        yield* tools.execute(call("web-search", { query: "x" }));
        yield* Effect.flip(tools.execute(call("nonexistent")));
        return yield* Fiber.join(subscriber);
      }),
    );
    const executionTimeMs = expect.any(Number);
    expect(events).toEqual([
      { type: "tools.executed", payload: { toolName: "web-search", success: true, executionTimeMs } },
      {
        type: "tools.failed",
        payload: {
          toolName: "nonexistent",
          success: false,
          executionTimeMs,
          error: "ToolNotFoundError",
          message: expect.stringContaining("nonexistent"),
        },
      },
    ]);
  });

  it("reaches the identity service's audit, whose failure does not fail the call", async () => {
    const entries: AuditEntry[] = [];
    const identity = Layer.succeed(IdentityService, {
      authorize: (agentId) => (agentId === "agent-1" ? Effect.void : Effect.fail("unknown agent")),
      audit: (entry) =>
        Effect.andThen(
          Effect.sync(() => entries.push(entry)),
          Effect.fail("the log is full"),
        ),
    });
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, echo);
        const input = { ...call("web-search", { query: "x" }), correlationId: "c-1" };
        yield* tools.execute(input);
        yield* Effect.flip(tools.execute({ ...input, arguments: {} }));
        yield* Effect.flip(tools.execute({ ...input, agentId: "stranger" }));
      }),
      { identity },
    );
    const entry = {
      agentId: "agent-1",
      sessionId: "session-1",
      action: "tool.execute",
      resource: "tools/web-search",
      durationMs: expect.any(Number),
      metadata: { correlationId: "c-1" },
    };
    expect(entries).toEqual([
      { ...entry, result: "success" },
      { ...entry, result: "failure" },
      { ...entry, agentId: "stranger", result: "denied" },
    ]);
  });

  it("reaches the arsenal's own audit with the agent as its principal", async () => {
    const arsenal = new ToolArsenal(QUIET);
    const finished: ArsenalEvent[] = [];
    arsenal.subscribe((event) => event.name === "call-finished" && finished.push(event));
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, echo);
        yield* tools.execute(call("web-search", { query: "x" }));
      }),
      { arsenal },
    );
    expect(finished).toMatchObject([
      { data: { toolId: "default.web_search", principal: "agent-1", status: "success" } },
    ]);
  });

  it("is one trace: the program's span, tool.execute, the arsenal's call and the handler's spans", async () => {
    const arsenal = new ToolArsenal(QUIET);
    const finished: ArsenalEvent<"call-finished">[] = [];
    arsenal.subscribe((event) => event.name === "call-finished" && finished.push(event));
    const spans = new Map<string, Tracer.Span>();
    const tracer = Tracer.make({
      span(options) {
        const span = new Tracer.NativeSpan(options);
        spans.set(options.name, span);
        return span;
      },
    });
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const register = tools.register(WEB_SEARCH, (args) => Effect.withSpan(Effect.succeed(args), "inside"));
        yield* Effect.withSpan(register, "registering");
        const { metadata } = yield* tools.execute(call("web-search", { query: "x" })).pipe(Effect.withSpan("program"));
        expect(metadata).toMatchObject({ traceId: spans.get("program")?.traceId });
      }).pipe(Effect.provideService(Tracer.Tracer, tracer)),
      { arsenal },
    );
    const [program, execute, inside] = ["program", "tool.execute", "inside"].map((name) => spans.get(name));
    expect([execute?.traceId, inside?.traceId]).toEqual([program?.traceId, program?.traceId]);
    expect([execute, inside].map((span) => span?.parent)).toMatchObject([
      { value: { spanId: program?.spanId } },
      { value: { spanId: execute?.spanId } },
    ]);
    expect(finished).toMatchObject([{ data: { traceId: program?.traceId, parentSpanId: execute?.spanId } }]);
    expect(Object.fromEntries(execute?.attributes ?? [])).toMatchObject({
      "tool.name": "web-search",
      "tool.id": "default.web_search",
      "tool.status": "success",
      "agent.id": "agent-1",
      "session.id": "session-1",
    });
  });
});
