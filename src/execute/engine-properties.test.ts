import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Aegis, AegisDecision } from "../guard/aegis.ts";
import { localOperator } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import { createHealth } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import { createEngine, type Engine } from "./engine.ts";
import { EXECUTION_STATUSES, type ToolResult } from "./result.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";
import { repeats } from "../../test/kit/effort.ts";

const MAX_CONCURRENT = 3;
const MAX_IN_ENSEMBLE = 2;

const LIMIT = { key: "tool", name: "tool", calls: 1, windowMs: 60_000 };

interface Bench {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly events: { readonly name: string; readonly data: Readonly<Record<string, unknown>> }[];
}

/** Tools exist for every name; the name says what they are: `safe…` is idempotent, `…in_ensemble` is in one, `limited…` is over its limit. */
function toolNamed(name: string): Tool {
  return defineTool({
    name,
    description: "A tool that does whatever the test tells it to do.",
    parameters: { type: "object", properties: { guard: { type: "string" } } },
    annotations: { confirmed: name.startsWith("safe"), idempotent: true },
    ...(name.includes("in_ensemble") && { ensemble: "e" }),
  });
}

function setUp(handler: Handler, settings: Partial<EngineSettings>): Bench {
  const clock = createManualClock();
  const events: Bench["events"] = [];
  const emit: Emit = (name, data) => void events.push({ name, data: { ...data } });
  const tools = new Map<string, Tool>();
  const decisions: Readonly<Record<string, () => Promise<AegisDecision>>> = {
    deny: () => Promise.resolve({ effect: "deny", code: "PERMISSION_DENIED", reason: "no" }),
    confirm: () => Promise.resolve({ effect: "confirm", confirmationId: "c", reason: "ask" }),
    throw: () => Promise.reject(new Error("guard broke")),
    hang: () => new Promise(() => {}),
    slow: () => new Promise((resolve) => void clock.after(150, () => resolve({ effect: "allow" }))),
  };
  const aegis: Aegis = {
    sees: ({ name }) => !name.startsWith("hidden"),
    visible: () => undefined,
    refusal: () => undefined,
    preview: async () => ({ visible: true, effect: "allow" }),
    decide: (request) => decisions[String(request.arguments["guard"])]?.() ?? Promise.resolve({ effect: "allow" }),
    limitsOf: ({ tool: { name } }) => (name.startsWith("limited") ? [LIMIT] : []),
    redeem: () => ({ effect: "allow" }),
    giveBack: async () => {},
    confine: (_domains, run) => run(),
    inspect: (_tool, value) => ({ value }),
    inspectLarge: async (_tool, value) => ({ value }),
    approvals: {
      list: async () => [],
      count: async () => 0,
      decided: async () => [],
      get: async () => undefined,
      answer: async () => ({ outcome: "denied" }),
      approve: async () => {},
      deny: async () => {},
    },
  };
  const engine = createEngine({
    find(name) {
      const tool = tools.get(name) ?? toolNamed(name);
      tools.set(name, tool);
      return { tool, handler };
    },
    aegis,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    health: createHealth({ clock, emit }),
    ensembleSettings: () => ({ maxConcurrent: MAX_IN_ENSEMBLE }),
    emit,
    clock,
    random: () => 0.5,
    localPrincipal: localOperator(),
    settings: { ...DEFAULT_ENGINE_SETTINGS, maxConcurrent: MAX_CONCURRENT, ...settings },
  });
  return { engine, clock, events };
}

/** What a handler does, in words; times in milliseconds. */
const behaviour = fc.record({
  act: fc.constantFrom("return", "throw", "lose", "refuse", "reject-text", "throw-now", "hang", "obey", "obey-late"),
  ms: fc.integer({ min: 0, max: 900 }),
});

const randomCall = fc.record({
  toolName: fc.constantFrom("safe_a", "safe_in_ensemble", "risky", "risky_in_ensemble", "limited", "hidden"),
  behaviour,
  guard: fc.constantFrom<unknown>("allow", "allow", "allow", "allow", "slow", "deny", "confirm", "throw", "hang", 5),
  startMs: fc.integer({ min: 0, max: 3000 }),
  cancelAfterMs: fc.option(fc.integer({ min: 0, max: 1500 }), { nil: undefined }),
  timeoutMs: fc.integer({ min: 100, max: 1200 }),
  retryCount: fc.integer({ min: 0, max: 3 }),
});

describe("the engine", () => {
  it("gives each of 10,000 random calls exactly one result, and leaves no place or timer behind [000-4.3-statuses] [004-control-release]", async () => {
    const seen = new Set<string>();
    const calls = fc.array(randomCall, { minLength: 50, maxLength: 50, size: "max" });
    await fc.assert(
      fc.asyncProperty(calls, async (randomCalls) => {
        const active = new Set<AbortSignal>();
        let mostActive = 0;
        const handler: Handler = async (_args, { auxdata, signal, progress }) => {
          for (const other of active) if (other.aborted) active.delete(other);
          active.add(signal);
          mostActive = Math.max(mostActive, active.size);
          try {
            return await act(auxdata["behaviour"], signal, progress, clock);
          } finally {
            active.delete(signal);
          }
        };
        const { engine, clock, events } = setUp(handler, { circuitBreakerTimeoutMs: 700 });
        const results: ToolResult[][] = randomCalls.map(() => []);
        randomCalls.forEach(({ toolName, guard, startMs, cancelAfterMs, timeoutMs, retryCount, ...rest }, index) => {
          const controller = new AbortController();
          clock.after(startMs, () => {
            const call = {
              toolName,
              arguments: { guard },
              timeoutMs,
              retryCount,
              auxdata: rest,
              signal: controller.signal,
            };
            void engine.execute(call).then((result) => results[index]?.push(result));
          });
          if (cancelAfterMs !== undefined) clock.after(startMs + cancelAfterMs, () => controller.abort());
        });
        await clock.advance(1_000_000);

        expect(results.every(({ length }) => length === 1)).toBe(true);
        const all = results.flat();
        for (const { status, error } of all) {
          seen.add(status);
          expect(EXECUTION_STATUSES).toContain(status);
          expect(error === undefined).toBe(status === "success");
        }
        const finished = events.filter(({ name }) => name === "call-finished").map(({ data }) => data["spanId"]);
        expect(new Set(finished)).toEqual(new Set(all.map(({ spanId }) => spanId)));
        expect(finished).toHaveLength(50);
        expect(mostActive).toBeLessThanOrEqual(MAX_CONCURRENT);
        expect(clock.pending).toBe(0);
        expect(await freePlaces("fresh_in_ensemble", engine, clock, events)).toBe(MAX_IN_ENSEMBLE);
        expect(await freePlaces("fresh", engine, clock, events)).toBe(MAX_CONCURRENT);
      }),
      { numRuns: repeats(200) },
    );
    expect([...seen].sort()).toEqual([...EXECUTION_STATUSES].sort());
  });

  it("leaves a failing tool alone until its cool-down ends, and then lets exactly one of many callers probe it [000-6.3-circuit-short] [000-6.3-circuit-probe] [000-6.3-circuit-closes] [000-15.1-denial]", async () => {
    const scenario = fc.record({
      threshold: fc.integer({ min: 1, max: 6 }),
      callers: fc.integer({ min: 2, max: 200 }),
      coolDownMs: fc.integer({ min: 1000, max: 90_000 }),
      probe: fc.constantFrom("succeeds", "fails", "is cancelled"),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ threshold, callers, coolDownMs, probe }) => {
        let reached = 0;
        let answer: (() => void) | undefined;
        const handler: Handler = () => {
          reached++;
          if (reached <= threshold) throw new Error("down");
          return new Promise<void>((resolve, reject) => {
            answer = probe === "succeeds" ? resolve : () => reject(new Error("still down"));
          });
        };
        const { engine, clock } = setUp(handler, {
          circuitBreakerThreshold: threshold,
          circuitBreakerTimeoutMs: coolDownMs,
        });
        const controller = new AbortController();
        const callMany = (count: number): Promise<ToolResult>[] =>
          Array.from({ length: count }, () => engine.execute({ toolName: "risky", signal: controller.signal }));
        for (let count = 0; count < threshold; count++) await engine.execute({ toolName: "risky" });
        await clock.advance(coolDownMs - 1);
        const refused = await Promise.all(callMany(20));
        expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(["circuit_open"]));
        expect(reached).toBe(threshold);

        await clock.advance(1);
        const probing = callMany(callers);
        await clock.advance(0);
        expect(reached).toBe(threshold + 1);
        if (probe === "is cancelled") controller.abort();
        else answer?.();
        await clock.advance(0);
        const outcomes = (await Promise.all(probing)).map(({ status }) => status);
        expect(outcomes.filter((status) => status === "circuit_open")).toHaveLength(callers - 1);

        // A probe that failed costs another cool-down; one that found nothing out leaves the next caller to try.
        void engine.execute({ toolName: "risky" });
        await clock.advance(0);
        expect(reached).toBe(threshold + (probe === "fails" ? 1 : 2));
      }),
      { numRuns: repeats(40) },
    );
  });
});

async function act(
  told: unknown,
  signal: AbortSignal,
  progress: (update: { progress: number }) => void,
  clock: ManualClock,
): Promise<unknown> {
  const { act: what, ms } = told as { readonly act: string; readonly ms: number };
  const pause = (): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  if (what === "throw-now") throw new Error("now");
  if (what === "hang") return new Promise(() => {});
  if (what.startsWith("obey")) {
    await aborted;
    if (what === "obey-late") await pause();
    throw signal.reason;
  }
  await pause();
  progress({ progress: 1 });
  if (what === "throw") throw new Error("no");
  if (what === "lose") throw new ArsenalError("TRANSPORT_FAILED", "reset");
  if (what === "refuse") throw new ArsenalError("TRANSPORT_FAILED", "refused", { beforeSend: true });
  if (what === "reject-text") throw "text" as unknown;
  return what;
}

/** How many calls of a tool that was never called start at once. */
async function freePlaces(
  toolName: string,
  engine: Engine,
  clock: ManualClock,
  events: Bench["events"],
): Promise<number> {
  const before = events.filter(({ name }) => name === "call-started").length;
  const controller = new AbortController();
  const auxdata = { behaviour: { act: "hang", ms: 0 } };
  const running = Array.from({ length: 10 }, () => engine.execute({ toolName, auxdata, signal: controller.signal }));
  await clock.advance(0);
  const started = events.filter(({ name }) => name === "call-started").length - before;
  controller.abort();
  await Promise.all(running);
  return started;
}
