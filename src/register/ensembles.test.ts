import { describe, expect, it } from "vitest";
import { createTestSource, draft, setUp } from "../../test/register/test-ensembles.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { createEnsembles } from "./ensembles.ts";
import type { Source } from "./source.port.ts";

describe("add", () => {
  it("connects, lists and registers the tools with their handlers under the source's name [001-ensemble-connect] [001-ensemble-access]", async () => {
    const { ensembles, registry, events, ids, clock } = setUp();
    const { source, log } = createTestSource("My Files", [draft("readFile"), draft("x")]);
    expect(await ensembles.add(source)).toEqual({ tools: 2 });
    expect(log).toEqual(["connect", "list"]);
    expect(ids("My Files")).toEqual(["my-files.x", "my-files.read_file"]);
    const found = await registry.find("my-files.read_file");
    expect(found).toMatchObject({
      tool: { sourceName: "readFile", ensemble: "My Files", source: "mcp", createdAt: 1000 },
    });
    expect(found?.handler?.({}, {} as never)).toBe("readFile");
    expect(events.at(-1)).toEqual(["ensemble-connected", { ensemble: "My Files", tools: 2 }]);
    expect([ensembles.names(), clock.pending]).toEqual([["My Files"], 0]);
  });

  it("keeps tools apart whose names become the same; one that fits keeps its name", async () => {
    const { ensembles, registry, ids } = setUp();
    await ensembles.add(createTestSource("files", [draft("readFile"), draft("read-file"), draft("read_file")]).source);
    expect(ids("files")).toHaveLength(3);
    expect((await registry.get("files.read_file"))?.sourceName).toBe("read_file");
  });

  it("does not take over the id of a tool of another ensemble, or of none", async () => {
    const { ensembles, registry, ids } = setUp();
    const mine = defineTool({ name: "read", namespace: "b", description: "Written by hand.", parameters: {} });
    registry.add([{ tool: mine }]);
    await ensembles.add(createTestSource("a", [draft("open")], { namespaces: ["b"] }).source);
    await ensembles.add(createTestSource("b", [draft("open"), draft("read")]).source);
    expect(await registry.get("b.read")).toBe(mine);
    expect((await registry.get("b.open"))?.ensemble).toBe("a");
    expect(ids("b").map((id) => id.replace(/[0-9a-f]{8}$/, "#"))).toEqual(["b.open_#", "b.read_#"]);
  });

  it("removes tools restored from an earlier run that the source no longer has", async () => {
    const { ensembles, registry, tools, ids } = setUp();
    await ensembles.add(createTestSource("files", [draft("old"), draft("kept")]).source);
    await registry.sync();
    await ensembles.close();
    const later = createEnsembles({ registry, emit: () => {}, clock: createManualClock() });
    await later.add(createTestSource("files", [draft("kept")]).source);
    expect(ids("files")).toEqual(["files.kept"]);
    expect([...tools.keys()]).toEqual(["files.kept"]);
  });

  it("rejects where the source cannot be connected, lets go of it, and leaves the others alone [001-ensemble-unavailable]", async () => {
    const { ensembles, events, ids } = setUp();
    await ensembles.add(createTestSource("good", [draft("one")]).source);
    const bad = createTestSource("bad", [], { connect: () => Promise.reject(new Error("connection refused.")) });
    await expect(ensembles.add(bad.source)).rejects.toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message:
        'The ensemble "bad" is unavailable: connection refused. Check that the source runs and can be reached, then add it again.',
    });
    expect(events.at(-1)).toEqual([
      "ensemble-failed",
      { ensemble: "bad", kind: "mcp", message: 'The ensemble "bad" is unavailable: connection refused.' },
    ]);
    await new Promise(setImmediate);
    expect(bad.log).toEqual(["disconnect"]);
    expect([ensembles.names(), ids("good")]).toEqual([["good"], ["good.one"]]);
    expect(await ensembles.add(createTestSource("bad", [draft("two")]).source)).toEqual({ tools: 1 });
  });

  it.each<[string, Partial<Source>]>([
    ["connecting", { connect: () => new Promise(() => {}) }],
    ["listing its tools", { list: () => new Promise(() => {}) }],
  ])("gives up on a source that hangs while %s, and tells it so", async (doing, change) => {
    const { ensembles, clock } = setUp();
    const added = ensembles.add(createTestSource("slow", [], change).source);
    const refused = expect(added).rejects.toThrow(
      `The ensemble "slow" is unavailable: ${doing} took longer than 5000 ms.`,
    );
    await clock.advance(4999);
    expect(ensembles.names()).toEqual(["slow"]);
    await clock.advance(1);
    await refused;
    expect([ensembles.names(), clock.pending]).toEqual([[], 0]);
  });

  it("fires the signal of what it stopped waiting for", async () => {
    const { ensembles, clock } = setUp();
    let given: AbortSignal | undefined;
    const connect: Source["connect"] = ({ signal }) => new Promise(() => (given = signal));
    const refused = expect(ensembles.add(createTestSource("slow", [], { connect }).source)).rejects.toThrow();
    await clock.advance(5000);
    await refused;
    expect(given?.aborted).toBe(true);
  });

  it.each<[string, Partial<Source>]>([
    ["lists no array", { list: async () => "tools" as never }],
    ["throws at once", { connect: () => { throw new Error("no"); } }], // prettier-ignore
    ["cannot be watched", { watch: () => { throw new Error("no"); } }], // prettier-ignore
  ])("rejects a source that %s", async (_what, change) => {
    const { ensembles, ids } = setUp();
    const { source } = createTestSource("odd", [draft("one")], change);
    await expect(ensembles.add(source)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
    expect([ensembles.names(), ids("odd")]).toEqual([[], []]);
  });

  it("takes in a tool however rough it is", async () => {
    const { ensembles } = setUp();
    const list = async (): Promise<never> =>
      [null, {}, { draft: 5 }, { draft: draft("good"), handler: () => 1 }] as never;
    expect(await ensembles.add(createTestSource("rough", [], { list }).source)).toEqual({ tools: 4 });
  });

  it("refuses a second ensemble of the same name, also while the first connects", async () => {
    const { ensembles } = setUp();
    const first = ensembles.add(createTestSource("files", []).source);
    await expect(ensembles.add(createTestSource("files", []).source)).rejects.toThrow(
      'There is already an ensemble named "files". Give one of them another name, or remove the first.',
    );
    expect(await first).toEqual({ tools: 0 });
  });
});

describe("a watched source", () => {
  it("is listed again when it changes: new tools come, vanished ones go [001-ensemble-watch]", async () => {
    const { ensembles, ids, events } = setUp();
    const { source, offer } = createTestSource("files", [draft("old"), draft("kept")]);
    await ensembles.add(source);
    offer([draft("kept"), draft("new")]);
    await new Promise(setImmediate);
    expect(ids("files")).toEqual(["files.kept", "files.new"]);
    expect(events).toContainEqual(["tool-deleted", { toolId: "files.old" }]);
  });

  it("is listed once more for any number of changes during a listing", async () => {
    const { ensembles, ids } = setUp();
    const { source, offer, log } = createTestSource("files", [draft("one")]);
    await ensembles.add(source);
    for (let count = 0; count < 10; count++) offer([draft("one"), draft(`more_${count}`)]);
    await new Promise(setImmediate);
    expect(log.filter((entry) => entry === "list")).toHaveLength(3);
    expect(ids("files")).toEqual(["files.one", "files.more_9"]);
  });

  it("misses no change that comes during the first listing", async () => {
    const { ensembles, ids } = setUp();
    const test = createTestSource("files", [draft("one")]);
    let first = true;
    const list: Source["list"] = async (options) => {
      const offered = await test.source.list(options);
      if (first) test.offer([draft("two")]);
      first = false;
      return offered;
    };
    await ensembles.add({ ...test.source, list });
    await new Promise(setImmediate);
    expect(ids("files")).toEqual(["files.two"]);
  });

  it("keeps its tools where listing again fails, and says so", async () => {
    const { ensembles, ids, events } = setUp();
    const test = createTestSource("files", [draft("one")]);
    let first = true;
    const list: Source["list"] = (options) => {
      if (!first) return Promise.reject(new Error("gone"));
      first = false;
      return test.source.list(options);
    };
    await ensembles.add({ ...test.source, list });
    test.offer([]);
    await new Promise(setImmediate);
    expect(ids("files")).toEqual(["files.one"]);
    expect(events.at(-1)).toEqual([
      "ensemble-failed",
      { ensemble: "files", kind: "mcp", message: 'The ensemble "files" could not be listed again: gone' },
    ]);
  });
});

describe("settings", () => {
  it("are the source's, and nothing for an unknown ensemble", async () => {
    const { ensembles } = setUp();
    await ensembles.add(createTestSource("files", [], { maxConcurrent: 2, timeoutMs: 500 }).source);
    expect(ensembles.settings("files")).toMatchObject({ maxConcurrent: 2, timeoutMs: 500 });
    expect(ensembles.settings("other")).toEqual({});
  });
});

describe("remove", () => {
  it("disconnects the source, ends the watch and removes its tools [001-ensemble-disconnect]", async () => {
    const { ensembles, ids, events } = setUp();
    const { source, log, offer } = createTestSource("files", [draft("one")]);
    await ensembles.add(source);
    expect(await ensembles.remove("files")).toBe(true);
    offer([draft("two")]);
    await new Promise(setImmediate);
    expect(log).toEqual(["connect", "list", "end watch", "disconnect"]);
    expect([ids("files"), ensembles.names()]).toEqual([[], []]);
    expect(events).toContainEqual(["ensemble-disconnected", { ensemble: "files" }]);
    expect(await ensembles.remove("files")).toBe(false);
  });

  it("removes the tools also where disconnecting fails, then rejects", async () => {
    const { ensembles, ids } = setUp();
    const disconnect = (): Promise<void> => Promise.reject(new Error("stuck"));
    await ensembles.add(createTestSource("files", [draft("one")], { disconnect }).source);
    await expect(ensembles.remove("files")).rejects.toThrow('The ensemble "files" could not be disconnected: stuck');
    expect(ids("files")).toEqual([]);
  });

  it("stops a source that is still connecting", async () => {
    const { ensembles } = setUp();
    const added = ensembles.add(createTestSource("slow", [], { connect: () => new Promise(() => {}) }).source);
    const refused = expect(added).rejects.toThrow('The ensemble "slow" was removed');
    expect(await ensembles.remove("slow")).toBe(true);
    await refused;
  });
});

describe("all", () => {
  it("says how each ensemble fares: connected, connecting, failed or disconnected", async () => {
    const { ensembles } = setUp();
    const { source: files } = createTestSource("files", [draft("one")]);
    await ensembles.add(files);
    const { source: slow } = createTestSource("slow", [], { connect: () => new Promise(() => {}) });
    const adding = expect(ensembles.add(slow)).rejects.toThrow("was removed");
    const { source: bad } = createTestSource("bad", [], { connect: () => Promise.reject(new Error("no route")) });
    await expect(ensembles.add(bad)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
    expect(ensembles.all()).toEqual([
      { source: files, state: "connected" },
      { source: slow, state: "connecting" },
      { source: bad, state: "failed", problem: 'The ensemble "bad" is unavailable: no route' },
    ]);
    expect(await ensembles.remove("files", { keep: true })).toBe(true);
    expect(await ensembles.remove("slow")).toBe(true);
    expect(await ensembles.remove("bad")).toBe(true);
    await adding;
    expect(ensembles.all()).toEqual([{ source: files, state: "disconnected" }]);
    await ensembles.add(files);
    expect(ensembles.all()).toEqual([{ source: files, state: "connected" }]);
  });
});

describe("reload", () => {
  it("has the source read again what it keeps, then lists it, and says what went wrong", async () => {
    const { ensembles, ids } = setUp();
    let reading: () => Promise<void> = async () => {};
    const offered = [draft("one")];
    const { source, log } = createTestSource("files", offered);
    await ensembles.add({ ...source, reload: () => reading() });
    const { signal } = new AbortController();
    reading = async () => void (log.push("reload"), offered.push(draft("two")));
    await ensembles.reload("files", { signal });
    expect([log.slice(2), ids("files").toSorted()]).toEqual([
      ["reload", "list"],
      ["files.one", "files.two"],
    ]);
    reading = () => Promise.reject(new Error("gone"));
    await ensembles.reload("files", { signal });
    expect(ensembles.all()).toMatchObject([{ state: "connected", problem: expect.stringContaining("gone") }]);
    reading = async () => {};
    await ensembles.reload("files", { signal });
    expect(ensembles.all()[0]).not.toHaveProperty("problem");
  });
});

describe("close", () => {
  it("disconnects all at once, collects what fails, and keeps the tools [001-ensemble-close]", async () => {
    const { ensembles, ids, clock } = setUp();
    const good = createTestSource("good", [draft("one")]);
    await ensembles.add(createTestSource("bad", [], { disconnect: () => Promise.reject(new Error("stuck")) }).source);
    await ensembles.add(createTestSource("slow", [], { disconnect: () => new Promise(() => {}) }).source);
    await ensembles.add(good.source);
    const closing = ensembles.close();
    await new Promise(setImmediate);
    expect(good.log).toContain("disconnect");
    await clock.advance(5000);
    expect((await closing).map(({ message }) => message)).toEqual([
      'The ensemble "bad" could not be disconnected: stuck',
      'The ensemble "slow" could not be disconnected: disconnecting took longer than 5000 ms',
    ]);
    expect([ids("good"), ensembles.names()]).toEqual([["good.one"], []]);
    expect(await ensembles.close()).toEqual([]);
    await expect(ensembles.add(good.source)).rejects.toMatchObject({ code: "CLOSED" });
  });
});
