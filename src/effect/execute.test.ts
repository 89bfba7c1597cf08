import { Deferred, Effect, Fiber, Layer } from "effect";
import { describe, expect, it } from "vitest";
import { call, echo, QUIET, runService, WEB_SEARCH } from "../../test/effect/run-service.ts";
import { toolset } from "../../test/mcp/toolset-gateway.ts";
import { ToolArsenal } from "../arsenal.ts";
import { ERROR_CODES, type ErrorCode } from "../errors/codes.ts";
import { localOperator } from "../guard/principal.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { toAlias } from "../transcode/alias.ts";
import { IdentityService, IdentityServiceLive, ToolExecutionError, ToolService } from "./index.ts";
import { toToolError } from "./to-tool-error.ts";

describe("execute", () => {
  it("gives handlers their defaults, and the output its ids", async () => {
    const output = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, echo);
        return yield* tools.execute(call("web-search", { query: "effect" }));
      }),
    );
    expect(output).toMatchObject({
      toolName: "web-search",
      success: true,
      result: { query: "effect", maxResults: 5 },
      metadata: { toolId: "default.web_search", attempts: 1 },
    });
  });

  it("asks the identity service about the tool's one name, however the agent spells it", async () => {
    const asked: unknown[] = [];
    const identity = Layer.succeed(IdentityService, {
      authorize: (...question) => Effect.sync(() => asked.push(question)).pipe(Effect.andThen(Effect.fail("no"))),
      audit: () => Effect.void,
    });
    const spellings = [
      "web-search",
      "web_search",
      "default.web_search",
      "default.web_search:1.0.0",
      toAlias("default.web_search"),
    ];
    const errors = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, () => Effect.die("must not run"));
        return yield* Effect.forEach(spellings, (name) => Effect.flip(tools.execute(call(name, { query: "x" }))));
      }),
      { identity },
    );
    expect(asked).toEqual(spellings.map(() => ["agent-1", "tools/web-search", "execute"]));
    expect(errors.map(({ _tag }) => _tag)).toEqual(spellings.map(() => "ToolAuthorizationError"));
    expect(errors[0]).toMatchObject({ toolName: "web-search", agentId: "agent-1", cause: "no" });
  });

  it("tells an agent about the tools it may see, and hides the others by every name", async () => {
    const policy = {
      sees: ({ name }: { readonly name: string }, { id }: { readonly id: string }) =>
        id !== "agent-1" || name !== "secret",
      decide: () => ({ effect: "allow" }) as const,
    };
    const identity = Layer.succeed(IdentityService, { authorize: () => Effect.fail("no"), audit: () => Effect.void });
    for (const service of [IdentityServiceLive, identity]) {
      const errors = await runService(
        Effect.gen(function* () {
          const tools = yield* ToolService;
          yield* tools.register(WEB_SEARCH, echo);
          yield* tools.register({ ...WEB_SEARCH, name: "secret" }, echo);
          return [
            yield* Effect.flip(tools.execute(call("secret"))),
            yield* Effect.flip(tools.execute(call("default.secret"))),
            yield* Effect.flip(tools.execute(call("nonexistent"))),
            yield* Effect.flip(tools.getTool("secret", { agentId: "agent-1" })),
          ];
        }),
        { arsenal: new ToolArsenal({ ...QUIET, policy }), identity: service },
      );
      const missing = { _tag: "ToolNotFoundError", availableTools: ["web-search"] };
      expect(errors).toMatchObject([missing, missing, missing, missing]);
    }
  });

  it("has no tool outside the toolset that an agent looks through, by any name", async () => {
    const arsenal = new ToolArsenal(QUIET);
    arsenal.toolsets.add(toolset("searching", { categories: ["search"] }));
    await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, echo);
        yield* tools.register({ ...WEB_SEARCH, name: "run-code", category: "code" }, echo);
        const through = { toolset: "searching", agentId: "agent-1" };
        expect((yield* tools.listTools(through)).map(({ name }) => name)).toEqual(["web-search"]);
        expect((yield* tools.toFunctionCallingFormat(through)).map(({ name }) => name)).toEqual(["web_search"]);
        const names = ["run-code", "run_code", "default.run_code", "default.run_code:1.0.0"];
        const errors = yield* Effect.forEach(names, (name) =>
          Effect.all([
            Effect.flip(tools.execute({ ...call(name, { query: "x" }), toolset: "searching" })),
            Effect.flip(tools.getTool(name, through)),
          ]),
        );
        const missing = { _tag: "ToolNotFoundError", availableTools: ["web-search"] };
        expect(errors).toMatchObject(names.map(() => [missing, missing]));
        const unknown = [
          yield* Effect.flip(tools.execute({ ...call("web-search", { query: "x" }), toolset: "other" })),
          yield* Effect.flip(tools.getTool("web-search", { toolset: "other" })),
        ];
        expect(unknown).toMatchObject([
          { _tag: "ToolNotFoundError", availableTools: [] },
          { _tag: "ToolNotFoundError", availableTools: [] },
        ]);
      }),
      { arsenal },
    );
  });

  it("names the parameter, what was expected and what was received", async () => {
    const errors = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register(WEB_SEARCH, echo);
        const inputs = [
          {},
          { query: { text: "x" } },
          { query: "x", order: "size" },
          { query: "x", maxResults: ["five"] },
        ];
        return yield* Effect.forEach(inputs, (args) => Effect.flip(tools.execute(call("web-search", args))));
      }),
    );
    const invalid = { _tag: "ToolValidationError", toolName: "web-search", code: "ARGUMENTS_INVALID" };
    expect(errors).toMatchObject([
      { ...invalid, parameter: "query", expected: "string", received: "undefined" },
      { ...invalid, parameter: "query", expected: "string", received: "object" },
      { ...invalid, parameter: "order", expected: "date | rank", received: "size" },
      { ...invalid, parameter: "maxResults", expected: "number", received: "array" },
    ]);
  });

  it("fails with the handler's own message, also when it dies", async () => {
    const errors = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const failure = new ToolExecutionError({ message: "no such page", toolName: "web-search" });
        yield* tools.register(WEB_SEARCH, () => Effect.fail(failure));
        yield* tools.register({ ...WEB_SEARCH, name: "crash" }, () => Effect.die(new Error("out of order")));
        return [
          yield* Effect.flip(tools.execute(call("web-search", { query: "x" }))),
          yield* Effect.flip(tools.execute(call("crash", { query: "x" }))),
        ];
      }),
    );
    const failed = { _tag: "ToolExecutionError", code: "EXECUTION_FAILED", input: { query: "x" } };
    expect(errors).toMatchObject([
      { ...failed, message: "no such page" },
      { ...failed, message: "out of order" },
    ]);
  });

  it("interrupts the handler and fails with the tool's timeout when its time is up", async () => {
    const clock = createManualClock();
    const [error, interrupted] = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const [started, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<string>()];
        yield* tools.register({ ...WEB_SEARCH, timeoutMs: 5000 }, () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(ended, "interrupted")),
          ),
        );
        const fiber = yield* Effect.forkChild(Effect.flip(tools.execute(call("web-search", { query: "x" }))));
        yield* Deferred.await(started);
        yield* Effect.promise(() => clock.advance(5000));
        return [yield* Fiber.join(fiber), yield* Deferred.await(ended)] as const;
      }),
      { arsenal: new ToolArsenal({ ...QUIET, clock }) },
    );
    expect(error).toMatchObject({ _tag: "ToolTimeoutError", toolName: "web-search", timeoutMs: 5000 });
    expect(interrupted).toBe("interrupted");
  });

  it("interrupts the handler when its own fiber is interrupted [002-effect-interrupt]", async () => {
    const ended = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        const [started, over] = [yield* Deferred.make<void>(), yield* Deferred.make<string>()];
        yield* tools.register(WEB_SEARCH, () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(over, "interrupted")),
          ),
        );
        const fiber = yield* Effect.forkChild(tools.execute(call("web-search", { query: "x" })));
        yield* Deferred.await(started);
        yield* Fiber.interrupt(fiber);
        return yield* Deferred.await(over);
      }),
    );
    expect(ended).toBe("interrupted");
  });

  it("waits for an approval, and runs with it once", async () => {
    const arsenal = new ToolArsenal(QUIET);
    const results = await runService(
      Effect.gen(function* () {
        const tools = yield* ToolService;
        yield* tools.register({ ...WEB_SEARCH, requiresApproval: true }, echo);
        const input = call("web-search", { query: "x" });
        const waiting = yield* Effect.flip(tools.execute(input));
        const { confirmationId = "" } = waiting as { readonly confirmationId?: string };
        yield* Effect.promise(() => arsenal.approvals.approve(confirmationId, localOperator({ id: "dana" })));
        const done = yield* tools.execute({ ...input, confirmationId });
        return [waiting, done, yield* Effect.flip(tools.execute({ ...input, confirmationId }))];
      }),
      { arsenal },
    );
    expect(results).toMatchObject([
      { _tag: "ToolAuthorizationError", code: "CONFIRMATION_REQUIRED" },
      { success: true },
      { _tag: "ToolAuthorizationError", code: "APPROVAL_INVALID" },
    ]);
  });

  it("gives every error code of a failed call one tag", () => {
    const made = Object.keys(ERROR_CODES).map((code) =>
      toToolError(
        { status: "failure", error: { code: code as ErrorCode, message: "why", retryAfterMs: 7 } },
        { input: call("x"), tool: undefined, timeoutMs: 1, availableTools: [] },
      ),
    );
    expect(made.every(({ cause }) => (cause as { readonly retryAfterMs?: number }).retryAfterMs === 7)).toBe(true);
    const tags = Object.fromEntries(made.map(({ code = "", _tag }) => [code, _tag]));
    expect(tags).toMatchObject({
      TOOLSET_NOT_FOUND: "ToolNotFoundError",
      CALL_INVALID: "ToolValidationError",
      PERMISSION_DENIED: "ToolAuthorizationError",
      TIMEOUT: "ToolTimeoutError",
      RATE_LIMITED: "ToolExecutionError",
      CIRCUIT_OPEN: "ToolExecutionError",
      OUTCOME_UNKNOWN: "ToolExecutionError",
      CANCELLED: "ToolExecutionError",
    });
  });
});
