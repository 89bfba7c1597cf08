import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import { catalogEngineContract } from "../../testing/catalog-engine.contract.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool } from "../../tool/tool.ts";
import { memoryEngine } from "./memory.ts";
import { repeats } from "../../../test/kit/effort.ts";

let root: string;
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "memory-engine-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function freshFile(): Promise<string> {
  const folder = join(root, String(++folders));
  await mkdir(folder);
  return join(folder, "tools.snapshot");
}

function tool(name: string, description = "Does something for somebody."): Tool {
  return defineTool({ name, description, parameters: { type: "object", properties: {} }, createdAt: 1 });
}

/** Puts tools into a snapshot and closes it. */
async function save(snapshot: string, tools: readonly Tool[]): Promise<void> {
  const store = memoryEngine({ snapshot });
  await store.open();
  await store.put(tools);
  await store.close();
}

async function load(snapshot: string): Promise<readonly Tool[]> {
  const store = memoryEngine({ snapshot });
  await store.open();
  const { tools } = await store.list();
  await store.close();
  return tools;
}

/** The files beside a snapshot, without the index. */
const files = async (snapshot: string): Promise<string[]> =>
  (await readdir(join(snapshot, ".."))).filter((name) => !name.endsWith(".index")).sort();

describe("memory engine [000-5.1-open] [000-5.1-put] [000-5.1-get] [000-5.1-delete] [000-5.1-list] [000-5.1-count] [000-5.1-store-health] [000-5.1-nearest]", () => {
  for (const { name, run } of catalogEngineContract(() => ({ adapter: memoryEngine() }), { cosineError: 0.01 }))
    it(name, run);

  it("is gone with the process where no snapshot is named [000-5.1-memory]", async () => {
    const store = memoryEngine();
    await store.open();
    await store.put([tool("first")]);
    await store.close();
    const other = memoryEngine();
    await other.open();
    expect(await other.count()).toBe(0);
  });
});

describe("memory engine with a snapshot", () => {
  // An engine that stays open writes its snapshot later, into a folder that is removed at the end.
  const withSnapshot = catalogEngineContract(async () => {
    const adapter = memoryEngine({ snapshot: await freshFile(), vectors: "float32" });
    return { adapter, dispose: () => adapter.close() };
  });
  for (const { name, run } of withSnapshot) it(name, run);

  it("has the same tools in the next run", async () => {
    const snapshot = await freshFile();
    await save(snapshot, [...sampleTools(), tool("umlaut", "Grüßt alle Bücher – 你好.\nSecond line.")]);
    const store = memoryEngine({ snapshot });
    await store.open();
    await store.delete(["default.send_email"]);
    await store.close();
    expect((await load(snapshot)).map(({ name }) => name)).toEqual([
      "create_user",
      "generate_report",
      "process_refund",
      "query_database",
      "umlaut",
    ]);
    expect((await load(snapshot)).at(-1)?.description).toBe("Grüßt alle Bücher – 你好.\nSecond line.");
  });

  it("makes the folder it is to be in", async () => {
    const snapshot = join(root, "a", "b", "tools.snapshot");
    await save(snapshot, [tool("first")]);
    expect(await load(snapshot)).toHaveLength(1);
  });

  it("gathers a burst of changes into one write", async () => {
    const snapshot = await freshFile();
    const clock = createManualClock();
    const store = memoryEngine({ snapshot, clock });
    await store.open();
    for (let index = 0; index < 100; index++) await store.put([tool(`tool_${index}`)]);
    expect(clock.pending).toBe(2); // one for the tools, one for the index
    expect(await files(snapshot)).toEqual([]);
    await store.close();
    // A second write would have kept the first as a backup.
    expect(await files(snapshot)).toEqual(["tools.snapshot"]);
    expect(clock.pending).toBe(0);
    expect(await load(snapshot)).toHaveLength(100);
  });

  it("writes by itself after a while, without being closed", async () => {
    const snapshot = await freshFile();
    const clock = createManualClock();
    const store = memoryEngine({ snapshot, clock });
    await store.open();
    await store.put([tool("first")]);
    await clock.advance(100);
    await store.put([tool("second")]);
    await store.close();
    // The write of the first was under way when the second came, so it became the backup.
    expect(await files(snapshot)).toEqual(["tools.snapshot", "tools.snapshot.bak"]);
    expect((await load(`${snapshot}.bak`)).map(({ name }) => name)).toEqual(["first"]);
  });

  it("keeps a change that comes while it is closing", async () => {
    const snapshot = await freshFile();
    const store = memoryEngine({ snapshot });
    await store.open();
    await store.put([tool("first")]);
    const closing = store.close();
    await store.put([tool("late")]);
    await closing;
    expect((await load(snapshot)).map(({ name }) => name)).toEqual(["first", "late"]);
    await expect(store.put([tool("too_late")])).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("opens again after it was closed", async () => {
    const store = memoryEngine({ snapshot: await freshFile() });
    await store.open();
    await store.put([tool("first")]);
    await store.close();
    await store.open();
    expect(await store.count()).toBe(1);
    await store.close();
  });

  it("does not write over a file it has not read", async () => {
    const snapshot = await freshFile();
    await save(snapshot, [tool("first")]);
    const store = memoryEngine({ snapshot });
    await expect(store.put([tool("second")])).rejects.toThrow("Call open() first");
    await store.close();
    expect(await load(snapshot)).toHaveLength(1);
  });

  it("puts all or nothing where a tool cannot be written", async () => {
    const store = memoryEngine({ snapshot: await freshFile() });
    await store.open();
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const bad = { ...tool("bad"), metadata: cyclic };
    await expect(store.put([tool("good"), bad])).rejects.toThrow("The tool default.bad cannot be stored");
    expect(await store.count()).toBe(0);
    await store.close();
  });

  it("reports a write that fails, refuses further changes, and recovers", async () => {
    const snapshot = await freshFile();
    const store = memoryEngine({ snapshot, clock: createManualClock() });
    await store.open();
    await store.put([tool("first")]);
    await rename(join(snapshot, ".."), `${root}/moved`);
    await expect(store.close()).rejects.toMatchObject({ code: "STORE_FAILED", details: { value: snapshot } });
    expect(await store.healthCheck()).toBe(false);
    const changes = await Promise.allSettled([store.put([tool("second")]), store.put([tool("other")])]);
    expect(changes).toMatchObject(changes.map(() => ({ reason: { code: "STORE_FAILED" } })));
    await rename(`${root}/moved`, join(snapshot, ".."));
    await store.put([tool("third")]);
    expect(await store.healthCheck()).toBe(true);
    await store.close();
    expect((await load(snapshot)).map(({ name }) => name)).toEqual(["first", "third"]);
  });
});

describe("a damaged snapshot", () => {
  const before = [tool("first")];
  const after = [tool("first"), tool("second")];

  async function twoVersions(): Promise<string> {
    const snapshot = await freshFile();
    await save(snapshot, before);
    await save(snapshot, after);
    return snapshot;
  }

  it("is noticed wherever it is cut short, and the version before is loaded", async () => {
    const snapshot = await twoVersions();
    const { length } = await readFile(snapshot);
    await copyFile(snapshot, `${snapshot}.whole`);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: length - 1 }), async (size) => {
        await copyFile(`${snapshot}.whole`, snapshot);
        await truncate(snapshot, size);
        expect(await load(snapshot)).toEqual(before);
      }),
      { numRuns: repeats(40) },
    );
  });

  it("is noticed whichever byte is wrong", async () => {
    const snapshot = await twoVersions();
    const whole = await readFile(snapshot);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: whole.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const wrong = Buffer.from(whole);
          wrong[at] = (wrong[at] ?? 0) ^ flip;
          await writeFile(snapshot, wrong);
          expect(await load(snapshot)).toEqual(before);
        },
      ),
      { numRuns: repeats(40) },
    );
  });

  it("is set aside, each under a number of its own, and the backup takes its place", async () => {
    const snapshot = await twoVersions();
    await writeFile(snapshot, "first damage");
    await load(snapshot);
    await writeFile(snapshot, "second damage");
    await load(snapshot);
    expect(await files(snapshot)).toEqual([
      "tools.snapshot",
      "tools.snapshot.bak",
      "tools.snapshot.corrupt-1",
      "tools.snapshot.corrupt-2",
    ]);
    expect(await readFile(`${snapshot}.corrupt-2`, "utf8")).toBe("second damage");
    expect(await load(snapshot)).toEqual(before);
  });

  it("stops the opening only where no backup can be read, says what to do, and stays where it is", async () => {
    const snapshot = await twoVersions();
    await writeFile(snapshot, "damage");
    await writeFile(`${snapshot}.bak`, "damage too");
    await expect(load(snapshot)).rejects.toMatchObject({ code: "STORE_FAILED", details: { value: snapshot } });
    await expect(load(snapshot)).rejects.toThrow(`Move ${snapshot} away`);
    await rm(`${snapshot}.bak`);
    await expect(load(snapshot)).rejects.toThrow("it has no backup");
    expect(await readFile(snapshot, "utf8")).toBe("damage");
  });

  it("does not stand in the way of a file that is not there: that is a new store", async () => {
    const snapshot = await twoVersions();
    await rm(snapshot);
    expect(await load(snapshot)).toEqual([]);
  });
});

describe("a process that is killed while it writes", () => {
  const TOOLS = 1000;

  /** A process that writes one version after the other without pause, and says which it begins and which it has kept. */
  function writer(snapshot: string, firstRound: number): ChildProcess {
    const program = `
      import { memoryEngine } from ${JSON.stringify(new URL("./memory.ts", import.meta.url).href)};
      import { defineTool } from ${JSON.stringify(new URL("../../tool/define-tool.ts", import.meta.url).href)};
      const store = memoryEngine({ snapshot: ${JSON.stringify(snapshot)} });
      const tool = (name, description) => defineTool({ name, description, parameters: { type: "object" } });
      for (let round = ${firstRound}; ; round++) {
        await store.open();
        const description = "round " + round + " " + "x".repeat(300);
        await store.put(Array.from({ length: ${TOOLS} }, (_, index) => tool("t" + index, description)));
        console.log("begins", round);
        await store.close();
        console.log("kept", round);
      }`;
    return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  }

  /** Kills the process at the start of its n-th write, `turns` turns of the event loop later. Returns the last round it said it had kept. */
  async function killDuring(child: ChildProcess, write: number, turns = 0): Promise<number> {
    if (!child.stdout) throw new Error("no stdout");
    const exited = once(child, "exit");
    let kept = 0;
    let begun = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const [what, round] = line.split(" ");
      if (what === "kept") kept = Number(round);
      else if (++begun === write) {
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        child.kill("SIGKILL");
      }
    }
    expect(await exited).toEqual([null, "SIGKILL"]);
    return kept;
  }

  async function roundsIn(snapshot: string): Promise<{ rounds: number[]; count: number }> {
    const tools = await load(snapshot);
    const rounds = new Set(tools.map(({ description }) => Number(description.split(" ")[1])));
    return { rounds: [...rounds], count: tools.length };
  }

  it(
    "leaves one whole version, never older than the last it reported, however often it is killed [000-5.1-snapshot]",
    { timeout: 120_000 },
    async () => {
      const snapshot = await freshFile();
      await killDuring(writer(snapshot, 1), 2);
      let [round = 0] = (await roundsIn(snapshot)).rounds;
      for (let kill = 0; kill < repeats(3, 20); kill++) {
        const kept = await killDuring(writer(snapshot, round + 1), 1 + (kill % 3), kill * 6);
        const { rounds, count } = await roundsIn(snapshot);
        expect([count, rounds.length]).toEqual([TOOLS, 1]);
        expect(rounds[0]).toBeGreaterThanOrEqual(Math.max(kept, round));
        expect(rounds[0]).toBeLessThanOrEqual(Math.max(kept, round) + 1);
        [round = 0] = rounds;
      }
      expect(await files(snapshot)).toEqual(["tools.snapshot", "tools.snapshot.bak"]);
    },
  );

  it("leaves one whole version where two write the same file", async () => {
    const snapshot = await freshFile();
    for (let kill = 0; kill < repeats(2, 8); kill++) {
      const writers = [writer(snapshot, 1), writer(snapshot, 1000)];
      await Promise.all(writers.map((child, index) => killDuring(child, 4 + kill + index)));
      const { rounds, count } = await roundsIn(snapshot);
      expect([count, rounds.length]).toEqual([TOOLS, 1]);
    }
    expect((await files(snapshot)).filter((name) => name.includes("corrupt"))).toEqual([]);
  });

  it("has what it left unfinished removed at the next opening, and only that", async () => {
    const snapshot = await freshFile();
    const dead = writer(snapshot, 1);
    await killDuring(dead, 1);
    const unfinished = `${snapshot}.${dead.pid}-0123abcd.tmp`;
    const underWay = `${snapshot}.${process.pid}-0123abcd.tmp`;
    const foreign = `${snapshot}.notes.tmp`;
    for (const name of [unfinished, underWay, foreign]) await writeFile(name, "");
    await save(snapshot, [tool("first")]);
    const left = await files(snapshot);
    expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([basename(underWay), basename(foreign)].sort());
  });
});
