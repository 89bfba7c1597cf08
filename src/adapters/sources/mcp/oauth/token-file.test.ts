import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../../observe/clock.ts";
import { withFileLock } from "../../../../system/file-lock.ts";
import { createTokenFile, defaultTokenFile } from "./token-file.ts";

let folder: string;
let path: string;
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-"));
  path = join(folder, "tokens.json");
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true }));

const warn = (message: string): void => void warnings.push(message);
const A = "https://a.example.com/mcp";
const B = "https://b.example.com/mcp";
const held = (issuer: string) => ({ issuer, byIssuer: {} });

describe("a token file", () => {
  it("keeps what it was given, by server, and leaves nothing else in its folder", async () => {
    const store = createTokenFile({ path, warn });
    expect(await store.read(A)).toEqual({ byIssuer: {} });
    expect(await readdir(folder)).toEqual([]);
    await store.update(A, (current) => ({ ...current, issuer: "https://i" }));
    await store.update(B, () => held("https://j"));
    const again = createTokenFile({ path, warn });
    expect(await again.read(A)).toEqual({ byIssuer: {}, issuer: "https://i" });
    expect(await again.read(B)).toEqual({ byIssuer: {}, issuer: "https://j" });
    expect(await readdir(folder)).toEqual(["tokens.json"]);
    expect(warnings).toEqual([]);
  });

  it("is closed to others, also where it was left open", async () => {
    const store = createTokenFile({ path, warn });
    await store.update(A, () => held("https://i"));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await chmod(path, 0o644);
    expect(await store.read(A)).toEqual(held("https://i"));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([
      `${path} holds tokens, and other users could read it. Its permissions are now limited to this user.`,
    ]);
  });

  it.each(["{ half", "[]", '{"version":2,"servers":{}}', ""])(
    "sets %j aside, whole, and starts anew",
    async (damaged) => {
      await writeFile(path, damaged, { mode: 0o600 });
      await writeFile(`${path}.corrupt-1`, "an older one", { mode: 0o600 });
      const store = createTokenFile({ path, warn });
      expect(await store.read(A)).toEqual({ byIssuer: {} });
      await store.update(A, () => held("https://i"));
      expect(await store.read(A)).toEqual(held("https://i"));
      expect(await readFile(`${path}.corrupt-1`, "utf8")).toBe("an older one");
      expect(await readFile(`${path}.corrupt-2`, "utf8")).toBe(damaged);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(`It was moved to ${path}.corrupt-2.`);
    },
  );

  it("takes one server's damaged entry for an empty one, and keeps the others", async () => {
    const servers = { [A]: { byIssuer: 5 }, [B]: held("https://j") };
    await writeFile(path, JSON.stringify({ version: 1, servers }), { mode: 0o600 });
    const store = createTokenFile({ path, warn });
    expect(await store.read(A)).toEqual({ byIssuer: {} });
    await store.update("https://c.example.com", () => held("https://k"));
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
      version: 1,
      servers: { ...servers, "https://c.example.com": held("https://k") },
    });
  });

  it("loses nothing where several processes write at once", async () => {
    const program = `
      const { createTokenFile } = await import(${JSON.stringify(new URL("token-file.ts", import.meta.url).href)});
      const store = createTokenFile({ path: process.argv[1] });
      for (let i = 0; i < 10; i++)
        await store.update("https://x", (held) => ({ ...held, issuer: String(Number(held.issuer ?? 0) + 1) }));`;
    const run = promisify(execFile);
    await Promise.all([1, 2, 3].map(() => run(process.execPath, ["--input-type=module", "--eval", program, path])));
    expect((await createTokenFile({ path, warn }).read("https://x")).issuer).toBe("30");
    expect(warnings).toEqual([]);
  });

  it("says which file cannot be read", async () => {
    await rm(path, { force: true });
    const store = createTokenFile({ path: folder, warn });
    await expect(store.read(A)).rejects.toMatchObject({ code: "STORE_FAILED", details: { value: folder } });
  });
});

/** A process that cannot be seen from here. */
const elsewhere = async (): Promise<string> => `${(await endedProcess()).replace(hostname(), "another-machine")}\nx`;

/** Time runs twenty times as fast. */
const hurriedClock: Clock = {
  now: () => systemClock.now() * 20,
  after: (ms, callback, options) => systemClock.after(ms / 20, callback, options),
};

describe("a lock", () => {
  it("lets one in at a time, and the next where one fails", async () => {
    const lock = join(folder, "lock");
    let inside = 0;
    let most = 0;
    const runs = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        withFileLock(lock, async () => {
          most = Math.max(most, ++inside);
          await stat(folder);
          inside--;
          if (index === 0) throw new Error("failed");
        }),
      ),
    );
    expect([most, runs.filter(({ status }) => status === "rejected").length]).toEqual([1, 1]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("is taken from a process that is gone", async () => {
    const lock = join(folder, "lock");
    await writeFile(lock, `${await endedProcess()}\nx`);
    expect(await withFileLock(lock, () => Promise.resolve("in"))).toBe("in");
  });

  it.each([
    ["a process of another machine", elsewhere],
    ["a process that was killed before it signed", async () => ""],
  ])("is taken from %s ten seconds after it was last renewed", async (_whose, owner) => {
    const lock = join(folder, "lock");
    await writeFile(lock, await owner());
    const since = hurriedClock.now();
    await withFileLock(lock, () => Promise.resolve(), hurriedClock);
    const waitedMs = hurriedClock.now() - since;
    expect(waitedMs).toBeGreaterThan(10_000);
  });

  it("is not taken from a process of another machine that renews it", async () => {
    const lock = join(folder, "lock");
    const inside = Promise.withResolvers<void>();
    let isInside = true;
    let entered = 0;
    const holding = withFileLock(
      lock,
      async () => {
        await writeFile(lock, await elsewhere());
        inside.resolve();
        const since = hurriedClock.now();
        while (hurriedClock.now() - since < 40_000) await stat(folder);
        isInside = false;
      },
      hurriedClock,
    );
    await inside.promise;
    const waiting = withFileLock(lock, async () => void (entered += isInside ? 1 : 0), hurriedClock);
    await Promise.all([holding, waiting]);
    expect(entered).toBe(0);
  });

  it("is taken from another machine at once if it is two minutes old, and not before", async () => {
    const lock = join(folder, "lock");
    await writeFile(lock, await elsewhere());
    let entered = false;
    const waiting = withFileLock(lock, () => Promise.resolve((entered = true)));
    await createTokenFile({ path, warn }).update(A, () => held("https://i"));
    expect(entered).toBe(false);
    const old = new Date(Date.now() - 121_000);
    await utimes(lock, old, old);
    await waiting;
    expect(entered).toBe(true);
  });
});

/** The description of a process that ran and is gone. */
async function endedProcess(): Promise<string> {
  const module = new URL("../../../../system/process-table.ts", import.meta.url).href;
  const program = `import { describeProcess } from "${module}"; process.stdout.write(describeProcess());`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  return stdout;
}

describe("the default place", () => {
  it.each([
    [{ XDG_CONFIG_HOME: "/x" }, "linux", /^\/x\/toolarsenal\/tokens\.json$/],
    [{}, "linux", /\/\.config\/toolarsenal\/tokens\.json$/],
    [{ XDG_CONFIG_HOME: "" }, "darwin", /\/\.config\/toolarsenal\/tokens\.json$/],
    [{ APPDATA: "C:/Users/u/AppData/Roaming" }, "win32", /Roaming.toolarsenal.tokens\.json$/],
  ])("with %j on %s", (env, platform, expected) => {
    expect(defaultTokenFile(env, platform)).toMatch(expected);
  });
});
