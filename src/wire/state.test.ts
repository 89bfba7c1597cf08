import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { sqliteState } from "../adapters/state/sqlite.ts";
import type { SharedState } from "../state/shared-state.ts";
import { changesContract, createManualClock, limitsContract, stateContract } from "../testing/index.ts";
import type { StateBackend } from "../testing/index.ts";
import { resolveConfig } from "../config/load/resolve-config.ts";
import { configuredState, lazyState, splitState } from "./state.ts";
import { createSurroundings } from "./surroundings.ts";

const folder = mkdtempSync(join(tmpdir(), "configured-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = (): string => join(folder, `${++files}.sqlite`);

describe("a state that is loaded late", () => {
  const make = (): StateBackend => {
    const file = newFile();
    return { open: (clock) => lazyState("sqlite", async () => sqliteState({ file, clock })) };
  };
  for (const suite of [stateContract, limitsContract, changesContract])
    for (const { name, run } of suite(make)) it(name, run);

  it("answers about limits without a promise once a store that does so is loaded", async () => {
    const state = lazyState("memory", async () => memoryState());
    expect(state.limits.admit({ holdMs: 1 })).toBeInstanceOf(Promise);
    await state.documents.get("a");
    expect(state.limits.admit({ holdMs: 1 })).toMatchObject({ admitted: true });
  });

  it("is not loaded by closing it, and answers nothing after", async () => {
    let loads = 0;
    const state = lazyState("memory", async () => (loads++, memoryState()));
    await state.close();
    await expect(state.documents.get("a")).rejects.toMatchObject({ code: "CLOSED" });
    expect(await state.healthCheck()).toBe(false);
    expect(loads).toBe(0);
  });

  it("rejects what is asked while it cannot be loaded, and begins subscriptions once it can", async () => {
    let works = false;
    const load = async (): Promise<SharedState> => {
      if (!works) throw new Error("redis is not installed");
      return memoryState();
    };
    const state = lazyState("redis", load);
    const heard: unknown[] = [];
    const end = state.changes.subscribe("pins", (data) => heard.push(data));
    const ended = state.changes.subscribe("pins", () => heard.push("ended"));
    ended();
    await expect(state.documents.get("a")).rejects.toThrow("redis is not installed");
    await expect(state.changes.publish("pins", 1)).rejects.toThrow("redis is not installed");
    expect(await state.healthCheck()).toBe(false);
    works = true;
    await state.changes.publish("pins", 2);
    end();
    await state.changes.publish("pins", 3);
    expect(heard).toEqual([2]);
  });
});

describe("documents in one store and limits in another", () => {
  const make = (): StateBackend => {
    const [kept, counted] = [newFile(), newFile()];
    return { open: (clock) => splitState(sqliteState({ file: kept, clock }), sqliteState({ file: counted, clock })) };
  };
  for (const suite of [stateContract, limitsContract, changesContract])
    for (const { name, run } of suite(make)) it(name, run);
});

describe("the configured state", () => {
  const surroundings = createSurroundings(resolveConfig({}), { clock: createManualClock() });
  const nameOf = (state: Parameters<typeof resolveConfig>[0]["state"]): string =>
    configuredState(resolveConfig({ ...(state && { state }) }), surroundings).name;

  it("is in memory, in the file that is named, or in the store whose type is", () => {
    expect(nameOf(undefined)).toBe("memory");
    expect(nameOf({ file: ":memory:" })).toBe("memory");
    expect(nameOf({ file: newFile() })).toBe("sqlite");
    expect(nameOf({ type: "sqlite" })).toBe("sqlite");
    expect(nameOf({ type: "memory", file: newFile() })).toBe("memory");
    expect(nameOf({ type: "sqlite", limits: { type: "memory" } })).toBe("sqlite+memory");
  });

  it("keeps documents in one store and limits in the other", async () => {
    const [file, other] = [newFile(), newFile()];
    const settings = { type: "sqlite", file, limits: { type: "sqlite", file: other } } as const;
    const state = configuredState(resolveConfig({ state: settings }), surroundings);
    await state.documents.set("pin:a", 1);
    await state.limits.admit({ places: [{ key: "a", limit: 1 }], holdMs: 60_000 });
    expect(await state.healthCheck()).toBe(true);
    await state.close();
    const [kept, counted] = [sqliteState({ file }), sqliteState({ file: other })];
    expect(await kept.documents.get("pin:a")).toMatchObject({ value: 1 });
    expect(await counted.documents.get("pin:a")).toBeUndefined();
    await Promise.all([kept.close(), counted.close()]);
  });

  it("has a file of its own if it is SQLite and none is named", () => {
    expect(resolveConfig({ state: { type: "sqlite" } }).state.file).toBe("./.toolarsenal/state.sqlite");
    expect(resolveConfig({ state: { type: "memory" } }).state.file).toBeUndefined();
  });
});
