import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { STATE_LOST } from "../../guard/state-loss.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { changesContract, limitsContract, type StateBackend, stateContract } from "../../testing/index.ts";
import { loadSqlite } from "../sqlite/open-sqlite.ts";
import { sqliteState } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-state-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
const newFile = (): string => join(root, String(++files), "state.sqlite");

/** A program of its own that has `sqliteState` and the file. */
function program(file: string, text: string): readonly string[] {
  const module = new URL("sqlite.ts", import.meta.url).href;
  const start = `import { sqliteState } from ${JSON.stringify(module)}; const state = sqliteState({ file: ${JSON.stringify(file)} });`;
  return ["--input-type=module", "--eval", `${start}\n${text}`];
}

describe("sqliteState, as shared state", () => {
  const backend = (): StateBackend => {
    const file = newFile();
    return { open: (clock) => sqliteState({ file, clock }) };
  };
  const cases = [...stateContract(backend), ...limitsContract(backend), ...changesContract(backend)];
  for (const { name, run } of cases) it(name, run);
});

describe("sqliteState", () => {
  it("keeps what it was given over a restart, expiry included", async () => {
    const file = newFile();
    const clock = createManualClock(1_000);
    const before = sqliteState({ file, clock });
    await before.documents.set("a", { x: 1 }, { expiresAt: 3_000 });
    const version = (await before.documents.get("a"))?.version;
    await before.close();
    const after = sqliteState({ file, clock });
    expect(await after.documents.get("a")).toEqual({ value: { x: 1 }, version });
    await clock.advance(2_000);
    expect(await after.documents.get("a")).toBeUndefined();
    await after.close();
  });

  it("lets exactly one of two processes change an entry, each time", async () => {
    const file = newFile();
    // Each counts up a hundred times, and begins anew whenever the other was faster: no step may be lost.
    const countUp = `
      process.stdout.write("ready");
      await new Promise((resolve) => process.stdin.once("data", resolve));
      for (let done = 0; done < 100; ) {
        const entry = await state.documents.get("count");
        if (await state.documents.set("count", (entry?.value ?? 0) + 1, { ifVersion: entry?.version ?? "absent" })) done++;
      }
      await state.close();
      process.exit(0);`;
    const children = [1, 2].map(() => spawn(process.execPath, program(file, countUp)));
    await Promise.all(children.map((child) => once(child.stdout, "data")));
    for (const child of children) child.stdin.write("go");
    expect((await Promise.all(children.map((child) => once(child, "close")))).map(([code]) => code)).toEqual([0, 0]);
    const state = sqliteState({ file });
    expect((await state.documents.get("count"))?.value).toBe(200);
    await state.close();
  });

  it("sees at once what another process wrote", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    await state.documents.set("a", "here");
    await promisify(execFile)(
      process.execPath,
      program(file, `await state.documents.set("a", "there"); await state.close();`),
    );
    expect((await state.documents.get("a"))?.value).toBe("there");
    await state.close();
  });

  it("prints nothing on standard error", async () => {
    const { stderr, stdout } = await promisify(execFile)(
      process.execPath,
      program(
        newFile(),
        `await state.documents.set("a", 1); process.stdout.write("kept"); process.emitWarning("another one");`,
      ),
    );
    expect(stdout).toBe("kept");
    expect(stderr).not.toContain("SQLite");
    expect(stderr).toContain("another one");
  });

  it("is readable for this user alone, side files too", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    await state.documents.set("a", 1);
    const folder = join(file, "..");
    const modes = readdirSync(folder).map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
    expect(modes.length).toBeGreaterThan(1);
    expect(new Set(modes)).toEqual(new Set(["600"]));
    expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
    await state.close();
  });

  it("moves a file aside that is no database, says so once, and begins a new one", async () => {
    const file = newFile();
    await sqliteState({ file }).close();
    const first = sqliteState({ file });
    await first.documents.set("a", 1);
    await first.close();
    writeFileSync(file, "this is no database, and is long enough to be taken for the header of one. ".repeat(100));
    const state = sqliteState({ file });
    await expect(state.documents.get("a")).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining(`is now ${file}.corrupt-1; a new file replaces it`),
    });
    expect(await state.documents.get("a")).toBeUndefined();
    expect(await state.documents.set("a", 2)).toBe(true);
    expect(readdirSync(join(file, ".."))).toContain("state.sqlite.corrupt-1");
    await state.close();
  });

  it("moves a file aside whose pages are damaged", async () => {
    const file = newFile();
    const first = sqliteState({ file });
    for (let index = 0; index < 500; index++) await first.documents.set(`key:${index}`, "x".repeat(100));
    await first.close();
    const { size } = statSync(file);
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096, size);
    writeFileSync(file, bytes);
    const state = sqliteState({ file });
    await expect(state.documents.list("")).rejects.toThrow("was damaged");
    expect(await state.documents.list("key:")).toEqual([]);
    await state.close();
  });

  describe("remembers that it was lost, also over a restart,", () => {
    const ways: Readonly<Record<string, (file: string) => void>> = {
      "when the file was deleted": (file) => rmSync(file),
      "when its folder was deleted": (file) => rmSync(join(file, ".."), { recursive: true }),
      "when the file was replaced": (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
      "when the file was emptied": (file) => truncateSync(file),
    };
    it.each(Object.entries(ways))("%s while it was in use", async (_how, lose) => {
      const file = newFile();
      const lost: string[] = [];
      const state = sqliteState({ file, onLost: ({ message }) => void lost.push(message) });
      await state.documents.set("a", 1);
      expect(await state.documents.get(STATE_LOST)).toBeUndefined();
      lose(file);
      const message = `The state file ${file} was deleted or replaced while it was in use; a new file replaces it.`;
      await expect(state.documents.get("a")).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringContaining(message),
      });
      expect(lost).toEqual([expect.stringContaining(message)]);
      expect(await state.documents.get(STATE_LOST)).toMatchObject({ value: { why: lost[0] } });
      await state.documents.set("a", 2);
      await state.close();
      const later = sqliteState({ file });
      expect(await later.documents.get(STATE_LOST)).toBeDefined();
      expect(await later.documents.get("a")).toMatchObject({ value: 2 });
      await later.close();
    });

    it("by every process that used it", async () => {
      const file = newFile();
      const [one, other] = [sqliteState({ file }), sqliteState({ file })];
      await one.documents.set("a", 1);
      await other.documents.get("a");
      rmSync(file);
      await expect(one.documents.get("a")).rejects.toThrow("was deleted or replaced");
      await one.documents.set("a", 2);
      await expect(other.documents.get("a")).rejects.toThrow("was deleted or replaced");
      expect(await other.documents.get("a")).toMatchObject({ value: 2 });
      await one.close();
      await other.close();
    });

    // Two processes go on writing to a log that a third one cannot see, unless they notice.
    it.each(["-wal", "-shm"])(
      "when %s was deleted under several processes, which then share the file again",
      async (side) => {
        const file = newFile();
        const lost: string[] = [];
        const state = sqliteState({ file, onLost: ({ message }) => void lost.push(message) });
        await state.documents.set("a", 1);
        const increment = `
        let lost = "";
        process.stdout.write("ready");
        for await (const _ of process.stdin) {
          const add = async () => {
            const { value = 0 } = (await state.documents.get("count")) ?? {};
            await state.documents.set("count", value + 1);
            return String(value + 1);
          };
          process.stdout.write(await add().catch(({ message }) => message));
        }`;
        const child = spawn(process.execPath, program(file, increment));
        const said = async (): Promise<string> => String((await once(child.stdout, "data"))[0]);
        const ask = (): Promise<string> => (child.stdin.write("go"), said());
        expect(await said()).toBe("ready");
        expect(await ask()).toBe("1");
        rmSync(file + side);
        const message = `The state file ${file} lost its write-ahead log (${file}-wal or ${file}-shm was deleted or replaced while it was in use), and with it the latest changes; the file is used without these changes.`;
        await expect(state.documents.set("a", 2)).rejects.toThrow(message);
        expect(lost).toEqual([expect.stringContaining(message)]);
        expect(await ask()).toContain(message);
        await state.documents.set("count", 10);
        expect(await ask()).toBe("11");
        expect(await state.documents.get("count")).toMatchObject({ value: 11 });
        expect(await state.documents.get(STATE_LOST)).toMatchObject({ value: { why: lost[0] } });
        child.kill();
        await once(child, "exit");
        await state.close();
      },
    );

    it("when a damaged file was moved aside and no new one was begun", async () => {
      const file = newFile();
      mkdirSync(join(file, ".."));
      writeFileSync(`${file}.corrupt-1`, "damaged");
      const state = sqliteState({ file });
      expect(await state.documents.get(STATE_LOST)).toMatchObject({
        value: { why: expect.stringContaining("was damaged") },
      });
      await state.close();
    });

    it("but not when there never was a file", async () => {
      const file = newFile();
      const state = sqliteState({ file });
      expect(await state.documents.get(STATE_LOST)).toBeUndefined();
      await state.close();
      const later = sqliteState({ file });
      expect(await later.documents.get(STATE_LOST)).toBeUndefined();
      await later.close();
    });
  });

  it.each([
    ["another program's database", "CREATE TABLE other (x)", "belongs to another program"],
    ["a later release's", "PRAGMA user_version = 99", "was written by a later release (schema 99, this release knows"],
  ])("leaves %s alone", async (_, statement, why) => {
    const file = newFile();
    if (statement.startsWith("PRAGMA")) {
      const mine = sqliteState({ file });
      await mine.documents.set("a", 1);
      await mine.close();
    } else {
      mkdirSync(join(file, ".."));
    }
    const { DatabaseSync } = loadSqlite();
    const other = new DatabaseSync(file);
    other.exec(statement);
    other.close();
    const before = readFileSync(file);
    const state = sqliteState({ file });
    await expect(state.documents.get("a")).rejects.toThrow(why);
    await expect(state.documents.get("a")).rejects.toThrow(why);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(join(file, "..")).filter((name) => name.includes("corrupt"))).toEqual([]);
    await state.close();
  });

  it("says what it could not do with a file that cannot be made", async () => {
    const file = join(root, "plain");
    writeFileSync(file, "");
    await expect(sqliteState({ file: join(file, "state.sqlite") }).documents.get("a")).rejects.toMatchObject({
      code: "STORE_FAILED",
      details: { field: "state.file" },
    });
  });

  it("waits for the disk once for many changes asked for at once", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    const keys = Array.from({ length: 600 }, (_, index) => `key:${index}`);
    expect(await Promise.all(keys.map((key) => state.documents.set(key, 1, { ifVersion: "absent" })))).not.toContain(
      false,
    );
    // Each wait adds a page to the log at least.
    expect(statSync(`${file}-wal`).size / 4096).toBeLessThan(100);
    expect(await state.documents.list("")).toHaveLength(600);
    await state.close();
  });

  it("lets others have their turn between changes that follow one another", async () => {
    const state = sqliteState({ file: newFile() });
    let turns = 0;
    let next = setImmediate(function turn() {
      turns++;
      next = setImmediate(turn);
    });
    for (let index = 0; index < 10; index++) await state.documents.set("a", index);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(9);
    await state.close();
  });

  it("keeps what was asked for before it was closed", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    const kept = state.documents.set("a", 1);
    await state.close();
    expect(await kept).toBe(true);
    const again = sqliteState({ file });
    expect(await again.documents.get("a")).toMatchObject({ value: 1 });
    await again.close();
  });

  it("tells everybody whose change could not be written", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    await state.documents.set("a", 1);
    const { DatabaseSync } = loadSqlite();
    const other = new DatabaseSync(file);
    other.exec("DROP TABLE last_version");
    other.close();
    const changes = await Promise.allSettled([
      state.documents.set("a", 2),
      state.documents.set("b", 2),
      state.documents.delete("a"),
    ]);
    expect(changes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await state.documents.list("")).toMatchObject([{ key: "a", value: 1 }]);
    await state.close();
  });

  it("waits for a lock of another program while this one goes on", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    await state.documents.set("a", 1);
    const { DatabaseSync } = loadSqlite();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const changed = state.documents.set("a", 2);
    // Two turns: the change was tried in the first.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await state.documents.get("a")).toMatchObject({ value: 1 });
    other.exec("ROLLBACK");
    other.close();
    expect(await changed).toBe(true);
    expect(await state.documents.get("a")).toMatchObject({ value: 2 });
    await state.close();
  });

  it("removes what has expired from the file in time", async () => {
    const file = newFile();
    const clock = createManualClock();
    const state = sqliteState({ file, clock });
    for (let index = 0; index < 200; index++) await state.documents.set(`gone:${index}`, index, { expiresAt: 10 });
    await clock.advance(10);
    for (let index = 0; index < 100; index++) await state.documents.set("here", index);
    await state.close();
    const { DatabaseSync } = loadSqlite();
    const database = new DatabaseSync(file);
    expect(database.prepare("SELECT count(*) AS rows FROM state").get()).toEqual({ rows: 1 });
    database.close();
  });
});
