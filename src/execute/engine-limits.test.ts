import { describe, expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createAegis } from "../guard/aegis.ts";
import { localOperator } from "../guard/principal.ts";
import { createHealth } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { EnsembleSettings } from "../register/source.port.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";

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
      const annotations = { confirmed: name === "read", readOnly: true };
      const parameters = { type: "object", properties: {} };
      const description = "Reads something from a server.";
      const draft = { name, namespace, ensemble: namespace, description, parameters, annotations };
      return { handler, tool: defineTool(draft) };
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

  /** How many of a hundred calls to a server that hangs are started at once. */
  async function started(
    settings: Partial<EngineSettings>,
    ensembleSettings?: Parameters<typeof setUp>[2],
  ): Promise<number> {
    const { engine, clock } = setUp(hangs, settings, ensembleSettings);
    const stuck = Array.from({ length: 100 }, () =>
      engine.execute({ toolName: "slow.read", timeoutMs: 1_000, retryCount: 1 }),
    );
    const other = engine.execute({ toolName: "quick.read" });
    await clock.advance(0);
    expect(await other).toMatchObject({ status: "success", queuedAt: 0, completedAt: 0 });
    await clock.advance(1_000);
    return (await Promise.all(stuck)).filter(({ attempts }) => attempts === 1).length;
  }

  it("leaves the other servers places, with 32 of its own by default", async () => {
    expect(await started({})).toBe(32);
  });

  it("has less than half of the places where there are few", async () => {
    expect(await started({ maxConcurrent: 5 })).toBe(2);
    expect(await started({ maxConcurrent: 10 })).toBe(4);
    expect(await started({ maxConcurrent: 2 })).toBe(1);
  });

  it("cannot take every place, whatever it is configured to", async () => {
    expect(await started({ maxConcurrent: 5 }, () => ({ maxConcurrent: 64 }))).toBe(4);
    expect(await started({ maxConcurrent: 5, maxConcurrentPerEnsemble: 5 })).toBe(4);
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

describe("calls that a gateway cuts off when it shuts down", () => {
  /** How a call that runs and one that waits for it end. */
  async function cutOff(toolName: string): Promise<readonly unknown[]> {
    const { engine, clock } = setUp(() => new Promise(() => {}), { maxConcurrent: 1 });
    const controller = new AbortController();
    const calls = [0, 1].map(() => engine.execute({ toolName, signal: controller.signal }));
    await clock.advance(0);
    controller.abort(new ArsenalError("CLOSED", "The gateway shut down."));
    const results = await Promise.all(calls);
    return results.map(({ status, attempts, error }) => [status, attempts, error?.code, error?.beforeSend]);
  }
  const waiting = ["failure", 0, "CLOSED", true];

  it("have an unknown outcome if they started", async () => {
    expect(await cutOff("files.write")).toEqual([["failure", 1, "OUTCOME_UNKNOWN", undefined], waiting]);
  });

  it("are merely closed if they are safe to repeat", async () => {
    expect(await cutOff("files.read")).toEqual([["failure", 1, "CLOSED", undefined], waiting]);
  });
});
