import { describe, expect, it } from "vitest";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Emit } from "../observe/events.ts";
import { engineOver } from "../../test/register/test-ensembles.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Tool } from "../tool/tool.ts";
import { createRegistry, type Registry, type RegistryParts } from "./registry.ts";

function tool(name: string, change: Partial<ToolDraft> = {}): Tool {
  return defineTool({ name, description: `Does ${name} for people.`, parameters: { type: "object" }, ...change });
}

/** A catalog in memory whose writes wait until they are let through. */
function createTestCatalog() {
  const tools = new Map<string, Tool>();
  const log: string[] = [];
  let gate: Promise<void> | undefined;
  let failure: Error | undefined;
  const pass = async (signal?: AbortSignal): Promise<void> => {
    await gate;
    signal?.throwIfAborted();
    if (failure) throw failure;
  };
  const catalog: RegistryParts["catalog"] = {
    get size() {
      return tools.size;
    },
    engine: engineOver(tools),
    async upsert(given, options) {
      log.push(`upsert ${given.map(({ id }) => id).join(" ")}`);
      await pass(options?.signal);
      const indexed = given.filter(({ id, contentHash }) => tools.get(id)?.contentHash !== contentHash);
      for (const each of indexed) tools.set(each.id, each);
      return { indexed: indexed.length, unchanged: given.length - indexed.length };
    },
    async delete(ids) {
      log.push(`delete ${ids.join(" ")}`);
      await pass();
      return ids.filter((id) => tools.delete(id)).length;
    },
  };
  return {
    catalog,
    tools,
    log,
    fail: (error: Error | undefined) => (failure = error),
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

function setUp() {
  const events: [string, unknown][] = [];
  const emit: Emit = (name, data) => void events.push([name, data]);
  const backing = createTestCatalog();
  const registry = createRegistry({ catalog: backing.catalog, emit, clock: createManualClock() });
  return { ...backing, registry, events };
}

async function reason(registry: Registry, name: string, sees?: (each: Tool) => boolean): Promise<string> {
  const found = await registry.find(name, sees ? { sees } : {});
  return found ? `found ${found.tool.id}` : registry.explainMissing(name, sees);
}

describe("find", () => {
  it("finds a tool before and after it is indexed, with its handler [000-3.1-register-at-once]", async () => {
    const { registry } = setUp();
    const added = tool("refund", { namespace: "billing" });
    const handler = (): string => "done";
    registry.add([{ tool: added, handler }]);
    const expected = { tool: added, handler };
    for (const name of ["billing.refund", "billing.refund:1.0.0", "refund", "refund:1.0.0"]) {
      expect(await registry.find(name)).toEqual(expected);
    }
    await registry.sync();
    expect(await registry.find("billing.refund")).toEqual(expected);
    expect(await registry.find("refund")).toEqual(expected);
  });

  it("has no handler for a tool that the catalog restored", async () => {
    const { registry, tools } = setUp();
    const restored = tool("refund");
    tools.set(restored.id, restored);
    expect(await registry.find("refund")).toEqual({ tool: restored, handler: undefined });
  });

  it("names the registered version where another is asked for", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("refund", { version: "2.1.0" }) }]);
    const expected = 'No tool "default.refund:1.0.0" is registered: the registered version is "default.refund:2.1.0".';
    expect(await reason(registry, "default.refund:1.0.0")).toBe(expected);
  });

  it("asks for the id where several tools have the name, indexed or not [003-canonical-ambiguous]", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("refund", { namespace: "a" }) }]);
    await registry.sync();
    registry.add([{ tool: tool("refund", { namespace: "b" }) }]);
    expect(await reason(registry, "refund")).toBe(
      '"refund" is the name of 2 tools. Call it by its id: "a.refund", "b.refund".',
    );
  });

  it("counts a tool once while its replacement is pending", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("refund") }]);
    await registry.sync();
    registry.add([{ tool: tool("refund", { version: "2.0.0" }) }]);
    expect(await registry.find("refund")).toMatchObject({ tool: { version: "2.0.0" } });
  });

  it("prefers an id over a bare name", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("b", { namespace: "a" }) }, { tool: tool("c", { namespace: "a.b" }) }]);
    expect(await registry.find("a.b")).toMatchObject({ tool: { id: "a.b" } });
  });

  it("suggests the nearest name, or a search [002-errors-not-found]", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("get_weather", { namespace: "sky" }) }]);
    expect(await reason(registry, "get_wether")).toBe(
      'No tool "get_wether" is registered. Did you mean "sky.get_weather"?',
    );
    expect(await reason(registry, "sky.get_wether")).toContain('Did you mean "sky.get_weather"?');
    expect(await reason(registry, "zzz")).toBe(
      'No tool "zzz" is registered. Search for a tool that does the job, and call it by its id.',
    );
  });

  it("neither finds, counts nor names what the caller may not see", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("refund", { namespace: "open" }) }, { tool: tool("refund", { namespace: "hidden" }) }]);
    const sees = ({ namespace }: Tool): boolean => namespace === "open";
    expect(await reason(registry, "refund", sees)).toBe("found open.refund");
    expect(await reason(registry, "hidden.refund", sees)).toBe(
      'No tool "hidden.refund" is registered. Did you mean "open.refund"?',
    );
    expect(await reason(registry, "hidden.refunt", sees)).not.toContain('"hidden.refund"');
    expect(await registry.explainMissing("hidden.refund:2.0.0", sees)).not.toContain("1.0.0");
  });
});

describe("add", () => {
  it("says what is new, what replaces what, and nothing where nothing changed", async () => {
    const { registry, events } = setUp();
    const handler = (): void => {};
    registry.add([{ tool: tool("refund"), handler }]);
    registry.add([{ tool: tool("refund"), handler }]);
    registry.add([{ tool: tool("refund", { version: "2.0.0" }), handler }]);
    expect(events).toEqual([
      ["tool-registered", { toolId: "default.refund", version: "1.0.0", source: "function" }],
      ["tool-replaced", { toolId: "default.refund", version: "2.0.0", previousVersion: "1.0.0" }],
    ]);
    expect([registry.pending, registry.size]).toEqual([1, 1]);
  });

  it("takes the handler away where a tool is registered again without one", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("refund"), handler: () => 1 }]);
    registry.add([{ tool: tool("refund") }]);
    expect((await registry.find("refund"))?.handler).toBeUndefined();
  });
});

describe("sync", () => {
  it("indexes what is pending, once, and says so", async () => {
    const { registry, events, log } = setUp();
    registry.add([{ tool: tool("a") }, { tool: tool("b") }]);
    expect(registry.pending).toBe(2);
    expect(await registry.sync()).toBe(2);
    expect(await registry.sync()).toBe(0);
    expect([registry.pending, registry.size]).toEqual([0, 2]);
    expect(log).toEqual(["upsert default.a default.b"]);
    expect(events.at(-1)).toEqual(["catalog-synced", { indexed: 2, unchanged: 0, total: 2, durationMs: 0 }]);
  });

  it("is shared by concurrent callers, and takes along what arrives meanwhile", async () => {
    const { registry, log, hold } = setUp();
    const letThrough = hold();
    registry.add([{ tool: tool("a") }]);
    const first = registry.sync();
    await new Promise(setImmediate);
    registry.add([{ tool: tool("b") }]);
    const second = registry.sync();
    letThrough();
    expect(await Promise.all([first, second])).toEqual([2, 2]);
    expect(log).toEqual(["upsert default.a", "upsert default.b"]);
  });

  it("never resolves before what was registered before the call is indexed", async () => {
    const { registry, tools } = setUp();
    // Each registration arrives one step later than the one before, so some fall into the moment in which a run ends.
    for (let steps = 0; steps < 30; steps++) {
      registry.add([{ tool: tool(`first_${steps}`) }]);
      const first = registry.sync();
      for (let step = 0; step < steps; step++) await Promise.resolve();
      registry.add([{ tool: tool(`second_${steps}`) }]);
      await registry.sync();
      expect(tools.has(`default.second_${steps}`)).toBe(true);
      await first;
    }
  });

  it("keeps what could not be written pending and writes it the next time", async () => {
    const { registry, fail, tools } = setUp();
    fail(new ArsenalError("STORE_FAILED", "The disk is full."));
    registry.add([{ tool: tool("a") }]);
    await expect(registry.sync()).rejects.toThrow("The disk is full.");
    expect([registry.pending, tools.size]).toEqual([1, 0]);
    fail(undefined);
    expect(await registry.sync()).toBe(1);
    expect(registry.pending).toBe(0);
  });

  it("keeps the later of two versions when the second arrives during the write of the first", async () => {
    const { registry, tools, hold } = setUp();
    const letThrough = hold();
    registry.add([{ tool: tool("a") }]);
    const done = registry.sync();
    await new Promise(setImmediate);
    registry.add([{ tool: tool("a", { version: "2.0.0" }) }]);
    letThrough();
    await done;
    expect(tools.get("default.a")?.version).toBe("2.0.0");
  });

  it("lets one caller give up without stopping the others, and stops when all have", async () => {
    const { registry, hold, tools } = setUp();
    const letThrough = hold();
    registry.add([{ tool: tool("a") }]);
    const impatient = new AbortController();
    const first = registry.sync({ signal: impatient.signal });
    const second = registry.sync();
    impatient.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    letThrough();
    expect(await second).toBe(1);

    const letThroughAgain = hold();
    registry.add([{ tool: tool("b") }]);
    const alone = new AbortController();
    const third = registry.sync({ signal: alone.signal });
    alone.abort(new Error("enough"));
    await expect(third).rejects.toThrow("enough");
    letThroughAgain();
    await new Promise(setImmediate);
    expect([tools.has("default.b"), registry.pending]).toEqual([false, 1]);
    expect(await registry.sync()).toBe(1);
  });
});

describe("delete", () => {
  it("removes a tool, indexed or pending, and its handler", async () => {
    const { registry, events, tools } = setUp();
    registry.add([{ tool: tool("a"), handler: () => 1 }]);
    await registry.sync();
    registry.add([{ tool: tool("b") }]);
    expect(await registry.delete("default.a")).toBe(true);
    expect(await registry.delete("default.b")).toBe(true);
    expect(await registry.delete("default.b")).toBe(false);
    expect([registry.size, registry.pending, tools.size]).toEqual([0, 0, 0]);
    expect(events.slice(-2)).toEqual([
      ["tool-deleted", { toolId: "default.a" }],
      ["tool-deleted", { toolId: "default.b" }],
    ]);
    registry.add([{ tool: tool("a") }]);
    expect((await registry.find("a"))?.handler).toBeUndefined();
  });

  it("is seen at once and outlasts a write of the same tool that is under way", async () => {
    const { registry, tools, hold } = setUp();
    const letThrough = hold();
    registry.add([{ tool: tool("a") }]);
    const synced = registry.sync();
    await new Promise(setImmediate);
    const deleted = registry.delete("default.a");
    expect([await registry.find("a"), registry.size]).toEqual([undefined, 0]);
    letThrough();
    await Promise.all([synced, deleted]);
    expect(tools.size).toBe(0);
  });

  it("does not take away a tool that was registered again meanwhile", async () => {
    const { registry, tools, hold } = setUp();
    registry.add([{ tool: tool("a") }]);
    await registry.sync();
    const letThrough = hold();
    registry.add([{ tool: tool("b") }]);
    const synced = registry.sync();
    await new Promise(setImmediate);
    const deleted = registry.delete("default.a");
    registry.add([{ tool: tool("a", { version: "2.0.0" }) }]);
    letThrough();
    await Promise.all([synced, deleted]);
    await registry.sync();
    expect(tools.get("default.a")?.version).toBe("2.0.0");
  });

  it("rejects where the store fails, and the next sync makes up for it", async () => {
    const { registry, tools, fail } = setUp();
    registry.add([{ tool: tool("a") }]);
    await registry.sync();
    fail(new Error("offline"));
    await expect(registry.delete("default.a")).rejects.toThrow("offline");
    expect(await registry.find("a")).toBeUndefined();
    fail(undefined);
    await registry.sync();
    expect(tools.size).toBe(0);
  });
});

describe("ofEnsemble", () => {
  it("has the ensemble's tools, indexed or not", async () => {
    const { registry } = setUp();
    registry.add([{ tool: tool("a", { ensemble: "files" }) }, { tool: tool("b") }]);
    await registry.sync();
    registry.add([{ tool: tool("c", { ensemble: "files" }) }]);
    expect(registry.ofEnsemble("files").map(({ id }) => id)).toEqual(["default.a", "default.c"]);
  });
});
