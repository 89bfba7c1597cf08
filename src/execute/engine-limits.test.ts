import { describe, expect, it } from "vitest";
import { direct } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { ajv } from "../adapters/validators/ajv.ts";
import { createAegis } from "../guard/aegis.ts";
import { localOperator } from "../guard/principal.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { EnsembleSettings } from "./run-call.ts";
import { DEFAULT_ENGINE_SETTINGS, type EngineSettings } from "./settings.ts";

interface Bench {
  readonly engine: Engine;
  readonly clock: ManualClock;
  events(name: string): readonly unknown[];
}

/** Tools `ENSEMBLE.NAME`, each in the ensemble of its namespace, all safe to repeat and with this handler. */
function setUp(
  handler: Handler,
  settings: Partial<EngineSettings> = {},
  ensembleSettings: (name: string) => EnsembleSettings = () => ({}),
): Bench {
  const clock = createManualClock();
  const told: { readonly name: string; readonly data: unknown }[] = [];
  const engine = createEngine({
    find: (id) => {
      const [namespace = "", name = ""] = id.split(".");
      const annotations = { confirmed: true, readOnly: true };
      const parameters = { type: "object", properties: {} };
      const description = "Reads something from a server.";
      const draft = { name, namespace, ensemble: namespace, description, parameters, annotations };
      return { found: true, handler, tool: defineTool(draft) };
    },
    aegis: createAegis({
      policy: { sees: () => true, decide: () => ({ effect: "allow" }) },
      state: memoryState({ clock }),
      clock,
      emit: () => {},
      settings: { maxRequestsPerMinute: 10_000, confirmationTimeoutS: 600, selfApproval: "never" },
    }),
    validator: ajv(),
    executors: [direct()],
    health: createHealth({ clock, emit: () => {} }),
    ensembleSettings,
    emit: (name, data) => void told.push({ name, data }),
    clock,
    random: () => 0,
    localPrincipal: localOperator(),
    settings: { ...DEFAULT_ENGINE_SETTINGS, circuitBreakerThreshold: 1_000, ...settings },
  });
  return { engine, clock, events: (name) => told.filter((event) => event.name === name).map(({ data }) => data) };
}

describe("a server that answers nothing any more", () => {
  const hangs: Handler = (_args, { tool }) => (tool.namespace === "slow" ? new Promise(() => {}) : "done");

  it("leaves the other servers a place", async () => {
    const { engine, clock } = setUp(hangs);
    const stuck = Array.from({ length: 5 }, () => engine.execute({ toolName: "slow.read", retryCount: 1 }));
    const other = engine.execute({ toolName: "quick.read" });
    await clock.advance(0);
    expect(await other).toMatchObject({ status: "success", queuedAt: 0, completedAt: 0 });
    await clock.advance(60_000);
    expect((await Promise.all(stuck)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 0]);
  });

  it("takes every place only where it is configured to", async () => {
    const { engine, clock } = setUp(hangs, {}, (name) => (name === "slow" ? { maxConcurrent: 5 } : {}));
    for (let call = 0; call < 5; call++) void engine.execute({ toolName: "slow.read", retryCount: 1 });
    let isDone = false;
    const other = engine.execute({ toolName: "quick.read" }).then(() => (isDone = true));
    await clock.advance(29_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    await other;
  });

  it("has the one place there is where there is one", async () => {
    const { engine } = setUp(() => "done", { maxConcurrent: 1 });
    expect((await engine.execute({ toolName: "slow.read" })).status).toBe("success");
  });
});

describe("the retry budget", () => {
  const broken: Handler = () => {
    throw new Error("down");
  };

  it("holds the attempts at a broken server to a fifth more than its calls, and tells", async () => {
    let attempts = 0;
    const { engine, clock, events } = setUp(() => {
      attempts++;
      throw new Error("down");
    });
    for (let call = 0; call < 100; call++) {
      void engine.execute({ toolName: "slow.read" });
      await clock.advance(100);
    }
    expect(attempts).toBe(120);
    expect(events("retry-refused")[0]).toMatchObject({ toolId: "slow.read", attempt: 2 });
  });

  it("lets a lone call be retried, and each server's calls apart", async () => {
    const { engine, clock, events } = setUp(broken, { retryBudget: 0.01 });
    for (const toolName of ["a.read", "b.read"]) {
      const running = engine.execute({ toolName, retryCount: 4 });
      await clock.advance(1_000);
      expect(await running).toMatchObject({ attempts: 4, error: { message: "down" } });
    }
    expect(events("retry-refused")).toEqual([]);
  });

  it("is none where it is set to nothing", async () => {
    const { engine } = setUp(broken, { retryBudget: 0 });
    expect(await engine.execute({ toolName: "a.read" })).toMatchObject({ attempts: 1, status: "failure" });
  });
});
