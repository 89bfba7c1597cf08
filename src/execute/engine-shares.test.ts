import { expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { createAegis } from "../guard/aegis.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import { createHealth } from "../observe/health.ts";
import type { EnsembleSettings } from "../register/source.port.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { ToolResult } from "./result.ts";

const remote = (id: string, more: Partial<Principal> = {}): Principal => localOperator({ id, local: false, ...more });
const [eve, ada] = [remote("eve"), remote("ada")];

/** Tools `NAMESPACE.hang` and `NAMESPACE.read`: those of the namespace `plain` belong to no ensemble. Calls of `hang` never end. */
function setUp(ensemble: EnsembleSettings = {}, maxConcurrent = 256): { engine: Engine; clock: ManualClock } {
  const clock = createManualClock();
  const engine = createEngine({
    find: (id) => {
      const [namespace = "", name = ""] = id.split(".");
      const parameters = { type: "object", properties: {} };
      const own = namespace === "plain" ? {} : { ensemble: namespace };
      const tool = defineTool({ name, namespace, ...own, description: "Reads something from a server.", parameters });
      return { handler: () => (name === "hang" ? new Promise(() => {}) : "done"), tool };
    },
    aegis: createAegis({
      policy: { sees: () => true, decide: () => ({ effect: "allow" }) },
      state: memoryState({ clock }).documents,
      clock,
      emit: () => {},
      settings: { maxRequestsPerMinute: 10_000, confirmationTimeoutS: 600, selfApproval: "never" },
    }),
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    health: createHealth({ clock, emit: () => {} }),
    ensembleSettings: () => ensemble,
    emit: () => {},
    clock,
    random: () => 0,
    localPrincipal: localOperator(),
    settings: { ...DEFAULT_ENGINE_SETTINGS, circuitBreakerThreshold: 1_000, maxConcurrent },
  });
  return { engine, clock };
}

/** Calls that hang until their time is up. */
function hanging(engine: Engine, principal: Principal, count: number, tool = "desk.hang"): Promise<ToolResult>[] {
  return Array.from({ length: count }, () => engine.execute({ toolName: tool, principal, timeoutMs: 1_000 }));
}

const startedOf = (results: readonly ToolResult[]): number => results.filter(({ attempts }) => attempts === 1).length;

it.each([
  [32, 24],
  [8, 6],
  [5, 4],
  [4, 3],
  [3, 2],
  [2, 1],
  [1, 1],
])("lets one remote caller take of %i places of an ensemble %i", async (maxConcurrent, share) => {
  const { engine, clock } = setUp({ maxConcurrent });
  const calls = hanging(engine, eve, 100);
  await clock.advance(0);
  expect(engine.load()).toEqual({ running: share, waiting: 100 - share });
  await clock.advance(1_000);
  expect(startedOf(await Promise.all(calls))).toBe(share);
});

it("runs another caller's call at once, past all calls of the first that wait", async () => {
  const { engine, clock } = setUp();
  const calls = hanging(engine, eve, 200);
  await clock.advance(0);
  const answer = await engine.execute({ toolName: "desk.read", principal: ada });
  expect(answer).toMatchObject({ status: "success", queuedAt: 0, completedAt: 0 });
  await clock.advance(1_000);
  await Promise.all(calls);
});

it("lets one remote caller take three quarters of all places, over all ensembles and tools without one", async () => {
  const { engine, clock } = setUp({}, 16);
  const calls = ["a.hang", "b.hang", "c.hang", "plain.hang"].flatMap((tool) => hanging(engine, eve, 20, tool));
  await clock.advance(0);
  expect(engine.load().running).toBe(12);
  const answer = await engine.execute({ toolName: "plain.read", principal: ada });
  expect(answer).toMatchObject({ status: "success", completedAt: 0 });
  await clock.advance(1_000);
  await Promise.all(calls);
});

it("says in a call that got no place how many one caller has, and the setting", async () => {
  const { engine, clock } = setUp();
  const calls = [...hanging(engine, eve, 25), ...hanging(engine, eve, 200, "plain.hang")];
  await clock.advance(1_000);
  const results = await Promise.all(calls);
  expect(results[24]?.error).toMatchObject({
    code: "TIMEOUT",
    message:
      "desk.hang was not started: it waited 1000 ms for other calls to end. One caller has at most 24 of the 32 places of desk (execution.max_concurrent_per_ensemble). Try again, or give it more time with timeoutMs.",
  });
  expect(results.at(-1)?.error?.message).toContain(
    "One caller has at most 192 of the 256 places of all tools (execution.max_concurrent).",
  );
});

it("counts callers of one name in two tenants apart", async () => {
  const { engine, clock } = setUp({ maxConcurrent: 4 });
  const calls = ["a", "b"].flatMap((tenant) => hanging(engine, remote("eve", { tenant }), 10));
  await clock.advance(0);
  expect(engine.load().running).toBe(4);
  await clock.advance(1_000);
  await Promise.all(calls);
});

it("lets the person at this machine take every place", async () => {
  const { engine, clock } = setUp({ maxConcurrent: 4 });
  const calls = hanging(engine, localOperator(), 10);
  await clock.advance(0);
  expect(engine.load().running).toBe(4);
  await clock.advance(1_000);
  expect((await Promise.all(calls)).at(-1)?.error?.message).not.toContain("One caller");
});
