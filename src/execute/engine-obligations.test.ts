import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { directExecutor } from "../adapters/executors/direct.ts";
import { createRedaction } from "../adapters/policies/rules/redaction.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { type Aegis, createAegis } from "../guard/aegis.ts";
import { createCallAudit } from "../guard/audit/call-audit.ts";
import { mayReachInCall } from "../guard/egress/domain-bound.ts";
import { createIdempotency } from "../guard/idempotency.ts";
import type { Obligations, PolicyDecision } from "../guard/policy.port.ts";
import { localOperator } from "../guard/principal.ts";
import type { Inspection } from "../guard/scan/inspection.ts";
import { createHealth, type HealthBook } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { ToolCall } from "./call.ts";
import { createEngine, type EngineParts } from "./engine.ts";
import type { ToolResult } from "./result.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";

const caller = localOperator({ id: "caller", tenant: "acme", local: false });

interface Bench {
  execute(call?: Partial<ToolCall>): Promise<ToolResult>;
  readonly aegis: Aegis;
  readonly clock: ManualClock;
  readonly health: HealthBook;
  runs(): number;
  records(): readonly Record<string, unknown>[];
  /** What the state keeps, as text. */
  kept(): Promise<string>;
}

interface Options extends Partial<Pick<EngineParts, "ensembleSettings">> {
  readonly inspection?: Inspection;
  readonly draft?: Partial<ToolDraft>;
  readonly settings?: Partial<EngineSettings>;
  readonly decide?: () => PolicyDecision;
}

/** An engine over one tool, which the rule `shown` allows with these obligations. */
function setUp(handler: Handler, obligations: Obligations = {}, options: Options = {}): Bench {
  const clock = createManualClock(1_000);
  const log = memoryAudit({ clock });
  const shared = memoryState({ clock });
  const state = shared.documents;
  const { decide = () => ({ effect: "allow", rule: "shown", obligations }), inspection } = options;
  const aegis = createAegis({
    policy: { sees: () => true, decide },
    state,
    clock,
    emit: () => {},
    settings: { maxRequestsPerMinute: 1_000, confirmationTimeoutS: 600, selfApproval: "never" },
    inspection,
  });
  const description = "Does something for somebody.";
  const parameters = { type: "object", properties: {} };
  const tool = defineTool({ name: "t", description, parameters, ...options.draft });
  const health = createHealth({ clock, emit: () => {} });
  let runs = 0;
  const engine = createEngine({
    find: () => ({ tool, handler: (args, context) => (runs++, handler(args, context)) }),
    aegis,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    audit: createCallAudit({ log, emit: () => {}, clock, strict: true }),
    idempotency: createIdempotency(shared, clock),
    health,
    ensembleSettings: options.ensembleSettings ?? (() => ({})),
    emit: () => {},
    clock,
    localPrincipal: caller,
    settings: { ...DEFAULT_ENGINE_SETTINGS, ...options.settings },
  });
  return {
    execute: (call) => engine.execute({ toolName: "t", ...call }),
    aegis,
    clock,
    health,
    runs: () => runs,
    records: () => log.lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    kept: async () => JSON.stringify(await state.list("")),
  };
}

const redact = (...texts: readonly string[]): Obligations => ({ redact: texts.map(createRedaction) });

/** An MCP server's answer that says what it says twice, as data and as text. */
const twice = (data: object): object => ({
  content: [{ type: "text", text: JSON.stringify(data) }],
  structuredContent: data,
});

describe("the rule that lets a call run", () => {
  it("is named in its record", async () => {
    const { execute, records } = setUp(() => "done");
    await execute();
    expect(records()).toMatchObject([{ decision: { effect: "allowed", rule: "shown" } }]);
  });

  it("is named in the record of a result that is given again", async () => {
    const { execute, records } = setUp(() => "done");
    await execute({ idempotencyKey: "k" });
    expect(await execute({ idempotencyKey: "k" })).toMatchObject({ replayed: true, result: "done" });
    expect(records()[1]).toMatchObject({ replayed: true, decision: { effect: "allowed", rule: "shown" } });
  });

  it("is none of a tool's own refusal", async () => {
    const { execute, records } = setUp(() => {
      throw new ArsenalError("PERMISSION_DENIED", "Not for you.");
    });
    await execute();
    expect(records()).toMatchObject([{ status: "permission_denied", decision: { effect: "allowed", rule: "shown" } }]);
  });
});

describe("what a rule takes out of a result", () => {
  it("is not in the result, and what it does not touch is the same object", async () => {
    const customer = { name: "Dana", card: "4111111111111111" };
    const { execute } = setUp(() => ({ customer, note: "paid with 4111111111111111" }), redact("customer.card"));
    expect((await execute()).result).toEqual({
      customer: { name: "Dana", card: "[redacted]" },
      note: "paid with 4111111111111111",
    });
    const untouched = { id: 7 };
    expect((await setUp(() => untouched, redact("**.card")).execute()).result).toBe(untouched);
  });

  it("is taken out of an MCP answer's text as well as of its data", async () => {
    const { execute } = setUp(() => twice({ customer: { card: "4111" }, total: 5 }), redact("customer.card"));
    expect((await execute()).result).toEqual(twice({ customer: { card: "[redacted]" }, total: 5 }));
  });

  it("is taken out of what is no plain data", async () => {
    class Customer {
      readonly card = "4111";
      readonly seen = new Date(0);
    }
    const { execute } = setUp(() => ({ customer: new Customer() }), redact("**.card"));
    expect((await execute()).result).toEqual({ customer: { card: "[redacted]", seen: "1970-01-01T00:00:00.000Z" } });
  });

  it("withholds a result that it cannot be taken out of", async () => {
    const circle: Record<string, unknown> = { card: "4111" };
    circle["self"] = circle;
    const result = await setUp(() => circle, redact("**.card")).execute();
    expect(result).toMatchObject({ status: "failure", attempts: 1, error: { code: "EXECUTION_FAILED" } });
    expect(result.error?.message).toMatch(/^default\.t ran, but its result is withheld: it could not be checked: /);
    expect(JSON.stringify(result)).not.toContain("4111");
  });

  it("is kept nowhere, neither for an idempotency key nor in the record", async () => {
    const { execute, kept, records } = setUp(() => ({ card: "4111" }), redact("card"));
    expect((await execute({ idempotencyKey: "k" })).result).toEqual({ card: "[redacted]" });
    expect((await execute({ idempotencyKey: "k" })).result).toEqual({ card: "[redacted]" });
    expect(`${await kept()} ${JSON.stringify(records())}`).not.toContain("4111");
    expect(await kept()).toContain("[redacted]");
  });

  it("is taken out of an earlier result that is given again under a rule of today", async () => {
    const decisions: PolicyDecision[] = [
      { effect: "allow" },
      { effect: "allow", rule: "new", obligations: redact("card") },
    ];
    const decide = (): PolicyDecision => decisions.shift() ?? { effect: "deny", rule: "none", reason: "No." };
    const { execute, runs } = setUp(() => ({ card: "4111" }), {}, { decide });
    expect((await execute({ idempotencyKey: "k" })).result).toEqual({ card: "4111" });
    expect((await execute({ idempotencyKey: "k" })).result).toEqual({ card: "[redacted]" });
    expect(runs()).toBe(1);
  });

  it("is taken out of what an error says, whose answer then no longer stands", async () => {
    const answer = { content: [{ type: "text", text: "card 4111 declined" }], isError: true };
    const handler: Handler = () => {
      throw new ArsenalError("EXECUTION_FAILED", "card 4111 declined", {
        answered: true,
        value: "4111",
        cause: answer,
      });
    };
    const { execute, health } = setUp(handler, redact("/[0-9]{4}/"));
    expect((await execute()).error).toEqual({
      code: "EXECUTION_FAILED",
      message: "card [redacted] declined",
      value: "[redacted]",
    });
    expect((await setUp(handler, redact("/[0-9]{5}/")).execute()).error).toMatchObject({ answered: true });
    // What the tool itself reports does not open its circuit, whatever a rule makes of it.
    expect(health.of("default.t")).toMatchObject({ circuitOpen: false, consecutiveFailures: 0 });
  });

  it("withholds an error whose words tell what has a path only in its answer", async () => {
    const answer = {
      content: [{ type: "text", text: "declined" }],
      structuredContent: { card: "4111" },
      isError: true,
    };
    const { execute } = setUp(() => {
      throw new ArsenalError("EXECUTION_FAILED", "card 4111 declined", { answered: true, cause: answer });
    }, redact("card"));
    const { error } = await execute();
    const message = "The error that default.t reported is withheld: a rule removes it.";
    expect(error).toEqual({ code: "EXECUTION_FAILED", message });
  });

  it("treats an error that comes from a large answer in the same way", async () => {
    const answer = {
      content: [{ type: "text", text: `card 4111 ${"declined ".repeat(50_000)}` }],
      structuredContent: { card: "4111" },
      isError: true,
    };
    const failing = (): never => {
      throw new ArsenalError("EXECUTION_FAILED", "card 4111 declined", { answered: true, cause: answer });
    };
    expect((await setUp(failing, redact("/[0-9]{5}/")).execute()).error).toMatchObject({
      message: "card 4111 declined",
      answered: true,
    });
    expect((await setUp(failing, redact("/[0-9]{4}/")).execute()).error).toEqual({
      code: "EXECUTION_FAILED",
      message: "card [redacted] declined",
    });
    expect((await setUp(failing, redact("card")).execute()).error).toEqual({
      code: "EXECUTION_FAILED",
      message: "The error that default.t reported is withheld: a rule removes it.",
    });
    const limited = await setUp(failing, { maxResultBytes: 1_000 }).execute();
    expect(limited.error?.message).toMatch(
      /^The error that default\.t reported is withheld: it measures at least \d+ bytes/,
    );
  });

  it("leaves an unknown outcome unknown", async () => {
    const { execute } = setUp(() => {
      throw new ArsenalError("TRANSPORT_FAILED", "lost 4111", { value: { card: "4111" } });
    }, redact("/4111/"));
    expect((await execute()).error).toMatchObject({ code: "OUTCOME_UNKNOWN", value: { card: "[redacted]" } });
  });
});

describe("a result that is too large", () => {
  it("is withheld, with its size, the limit and that the tool ran", async () => {
    const { execute, health } = setUp(() => "x".repeat(100), { maxResultBytes: 50 });
    expect(await execute()).toMatchObject({
      status: "failure",
      attempts: 1,
      error: {
        code: "RESULT_TOO_LARGE",
        message:
          "default.t ran, but its result is withheld: it measures at least 102 bytes, and a rule allows 50. Ask for less at once.",
      },
    });
    expect(health.of("default.t").consecutiveFailures).toBe(0);
  });

  it("is measured in bytes of UTF-8, as what is given on", async () => {
    const run = (text: string, limit: number): Promise<ToolResult> =>
      setUp(() => text, { maxResultBytes: limit }).execute();
    expect((await run("ää", 6)).status).toBe("success");
    expect((await run("ää", 5)).error?.message).toContain("it measures 6 bytes, and a rule allows 5.");
    const long = { maxResultBytes: 30, ...redact("data") };
    expect((await setUp(() => ({ data: "x".repeat(1_000) }), long).execute()).status).toBe("success");
  });

  it("is withheld by the configured limit where no rule sets a lower one", async () => {
    const withheld = async (given: unknown, rule = {}): Promise<unknown> =>
      (await setUp(() => given, rule, { settings: { maxResultBytes: 10 } }).execute()).error?.message;
    expect(await withheld("x".repeat(20))).toContain("22 bytes, and execution.max_result_bytes allows 10.");
    expect(await withheld("x".repeat(20), { maxResultBytes: 1_000 })).toContain("max_result_bytes allows 10.");
    expect(await withheld(["x".repeat(20), 10n])).toContain("execution.max_result_bytes allows 10.");
  });

  it("is withheld where it cannot be measured and a rule demands a size, otherwise given", async () => {
    const circle: unknown[] = [];
    circle.push(circle);
    const { error } = await setUp(() => circle, { maxResultBytes: 1_000 }).execute();
    expect(error?.message).toContain("a rule allows 1000 bytes, and it cannot be measured.");
    expect((await setUp(() => circle).execute()).result).toBe(circle);
  });

  it("is withheld as an error too", async () => {
    const { execute } = setUp(
      () => {
        throw new ArsenalError("EXECUTION_FAILED", "no", { answered: true, cause: { content: "x".repeat(100) } });
      },
      { maxResultBytes: 50 },
    );
    const { error } = await execute();
    expect(error).toMatchObject({ code: "EXECUTION_FAILED", message: expect.stringContaining("allows 50") });
    expect(error).not.toHaveProperty("answered");
  });
});

describe("a rate that a rule demands", () => {
  it("refuses the call that is too many before it runs, and names the rule", async () => {
    const rates = [{ key: "caller", calls: 2, windowMs: 3_600_000, rule: "twice-an-hour" }];
    const { execute, runs, clock } = setUp(() => "done", { rates });
    await execute();
    await execute();
    expect((await execute()).error).toEqual({
      code: "RATE_LIMITED",
      message: "default.t was not called: the limit of rule twice-an-hour allows 2 in 3600 s. Try again in 3600000 ms.",
      retryAfterMs: 3_600_000,
    });
    expect(runs()).toBe(2);
    await clock.advance(3_600_000);
    expect((await execute()).status).toBe("success");
  });
});

describe("the domains that a rule allows", () => {
  const bounded: Options = { draft: { ensemble: "e" }, ensembleSettings: () => ({ guardsEgress: true }) };

  it("bound the call, and no other", async () => {
    const reached: boolean[] = [];
    const handler: Handler = async () => {
      await Promise.resolve();
      reached.push(mayReachInCall("api.example.com"), mayReachInCall("evil.example"));
    };
    await setUp(handler, { egress: ["*.example.com"] }, bounded).execute();
    await setUp(handler, {}, bounded).execute();
    expect(reached).toEqual([true, false, true, true]);
  });

  it("refuse a tool that they cannot bound, before it runs", async () => {
    const { execute, runs, records } = setUp(() => "done", { egress: [] }, { draft: { ensemble: "e" } });
    expect(await execute()).toMatchObject({ status: "permission_denied", attempts: 0 });
    expect(runs()).toBe(0);
    expect(records()).toMatchObject([{ decision: { effect: "denied", rule: "shown" } }]);
  });
});

describe("a call that a person approved", () => {
  it("keeps its obligations", async () => {
    const decide = (): PolicyDecision => ({
      effect: "confirm",
      rule: "ask",
      reason: "Ask.",
      obligations: redact("card"),
    });
    const { execute, aegis, records } = setUp(() => ({ card: "4111" }), {}, { decide });
    const { confirmationId = "" } = await execute();
    await aegis.approvals.approve(confirmationId, localOperator({ id: "boss", local: false }));
    expect((await execute({ confirmationId })).result).toEqual({ card: "[redacted]" });
    expect(records()[1]).toMatchObject({ decision: { effect: "allowed", rule: "ask" } });
  });
});

describe("an inspected result", () => {
  const inspection: Inspection = {
    arguments: () => undefined,
    result: (_tool, value) => {
      const text = JSON.stringify(value);
      if (text.includes("attack")) return { refused: "The result of default.t looks like an attack." };
      return text.includes("hidden") ? { value: "cleaned" } : { value };
    },
    inTurns: {
      arguments: async () => undefined,
      result: async (tool, value) => inspection.result(tool, value),
    },
  };

  it("is given on as the inspection leaves it, or withheld", async () => {
    const run = (value: unknown): Promise<ToolResult> => setUp(() => value, {}, { inspection }).execute();
    const untouched = { fine: true };
    expect((await run(untouched)).result).toBe(untouched);
    expect((await run("hidden text")).result).toBe("cleaned");
    expect(await run("attack")).toMatchObject({
      status: "failure",
      attempts: 1,
      error: {
        code: "EXECUTION_FAILED",
        message: "default.t ran, but its result is withheld: The result of default.t looks like an attack.",
      },
    });
  });

  it("may be an error: its words, and the whole answer that they were taken from", async () => {
    const run = (message: string, cause?: unknown): Promise<ToolResult> =>
      setUp(
        () => {
          throw new ArsenalError("EXECUTION_FAILED", message, { answered: true, cause });
        },
        {},
        { inspection },
      ).execute();
    expect((await run("fine", { content: [] })).error).toMatchObject({ message: "fine", answered: true });
    expect((await run("fine", { more: "hidden" })).error).toEqual({ code: "EXECUTION_FAILED", message: "fine" });
    expect((await run("hidden")).error).toEqual({ code: "EXECUTION_FAILED", message: "cleaned" });
    expect((await run("fine", { more: "attack" })).error?.message).toContain("is withheld");
    expect((await run("fine", Object.assign(new Error("attack")))).error?.message).toContain("is withheld");
  });
});
