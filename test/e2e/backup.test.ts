import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileAudit, postgresAudit } from "../../src/adapters/audit/index.ts";
import { redisState } from "../../src/adapters/state/redis.ts";
import { hmacKey } from "../../src/guard/audit/key.ts";
import { ToolArsenal } from "../../src/index.ts";
import { ROOT } from "../repo/project.ts";
import { realPostgres } from "../services/postgres.ts";
import { redisMissing, startRedis } from "../services/redis.ts";

const root = mkdtempSync(join(tmpdir(), "backup-"));
const server = await realPostgres();
afterAll(async () => {
  await server?.remove();
  rmSync(root, { recursive: true, force: true });
});
let copies = 0;
const newFolder = (): string => join(root, `copy-${++copies}`);

function script(name: "backup" | "restore", args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const { DATABASE_URL: _, REDIS_URL: __, ...inherited } = process.env;
  const env = { ...inherited, ...variables };
  const { status, stdout, stderr } = spawnSync(join(ROOT, `deploy/backup/${name}.sh`), args, { encoding: "utf8", env });
  return { status, stdout, stderr };
}

/** An arsenal with one tool, whose catalog and state are in files. */
function open(folder: string, vectorStore: object): ToolArsenal {
  return new ToolArsenal({
    vectorStore,
    state: { file: join(folder, "state.sqlite") },
    audit: { file: join(folder, "audit.jsonl"), maxFileBytes: 1_024 },
    embedder: { tier: "lexical" },
    telemetry: { enabled: false },
  });
}
let runs = 0;
const registerBook = (arsenal: ToolArsenal): void =>
  void arsenal.register({ name: "book", description: "Books a seat." }, () => ++runs);

// because the scripts are for bash, and use the tools of Linux
describe.skipIf(process.platform !== "linux")("a backup", () => {
  it.each([
    [
      "the snapshot of the memory engine",
      (folder: string) => ({ type: "memory", snapshot: join(folder, "tools.snapshot") }),
    ],
    ["the SQLite engine", (folder: string) => ({ type: "sqlite", file: join(folder, "tools.sqlite") })],
  ])(
    "restores %s, the SQLite state, the audit log in several files and its key, taken while they are in use",
    async (_name, store) => {
      const folder = join(newFolder(), "data");
      const arsenal = open(folder, store(folder));
      registerBook(arsenal);
      await arsenal.sync();
      for (let call = 0; call < 12; call++)
        await arsenal.execute({ toolName: "book", arguments: {}, idempotencyKey: `key ${call}` });
      const copy = newFolder();
      expect(script("backup", [copy, folder])).toMatchObject({ status: 0, stderr: "" });
      await arsenal.close();
      expect(readdirSync(join(copy, "files-1")).filter((name) => /\.\d{15}$/.test(name)).length).toBeGreaterThan(1);
      expect(statSync(copy).mode & 0o077).toBe(0);

      rmSync(folder, { recursive: true });
      expect(script("restore", [copy, folder])).toMatchObject({ status: 0, stderr: "" });
      const verified = fileAudit({ file: join(folder, "audit.jsonl") });
      expect(await verified.verify?.()).toMatchObject({ ok: true });
      await verified.close();
      const before = runs;
      const again = open(folder, store(folder));
      registerBook(again);
      const repeated = await again.execute({ toolName: "book", arguments: {}, idempotencyKey: "key 3" });
      expect([repeated.status, runs]).toEqual(["success", before]);
      await again.close();
    },
  );

  it("does not overwrite what is there", () => {
    expect(script("backup", [root])).toMatchObject({ status: 2, stderr: expect.stringContaining("exists") as string });
    const copy = newFolder();
    expect(script("backup", [copy, join(ROOT, "deploy/compose")]).status).toBe(0);
    const stderr = expect.stringContaining("is not empty") as string;
    expect(script("restore", [copy, join(ROOT, "deploy/compose")])).toMatchObject({ status: 2, stderr });
  });

  // because there may be no PostgreSQL on this machine
  it.skipIf(server === undefined)(
    "restores the catalog, state and audit log in PostgreSQL into another database",
    async () => {
      const key = hmacKey("a secret of thirty-two characters");
      const url = (await server?.database()) ?? "";
      const options = (address: string) => ({
        state: { type: "postgres", url: address } as const,
        embedder: { tier: "lexical" } as const,
        telemetry: { enabled: false },
      });
      const log = postgresAudit({ url, key });
      const arsenal = new ToolArsenal({ ...options(url), audit: log });
      registerBook(arsenal);
      await arsenal.execute({ toolName: "book", arguments: {}, idempotencyKey: "key" });
      const copy = newFolder();
      expect(script("backup", [copy], { DATABASE_URL: url })).toMatchObject({ status: 0, stderr: "" });
      await arsenal.close();
      await log.close();

      const other = (await server?.database()) ?? "";
      expect(script("restore", [copy], { DATABASE_URL: other })).toMatchObject({ status: 0, stderr: "" });
      const restored = postgresAudit({ url: other, key });
      expect(await restored.verify?.()).toMatchObject({ ok: true });
      const before = runs;
      const again = new ToolArsenal({ ...options(other), audit: restored });
      registerBook(again);
      const repeated = await again.execute({ toolName: "book", arguments: {}, idempotencyKey: "key" });
      expect([repeated.status, runs]).toEqual(["success", before]);
      await again.close();
      await restored.close();
    },
  );

  // because there may be no Redis on this machine
  it.skipIf(redisMissing() !== undefined)(
    "restores the state in Redis, which also had an append-only file",
    async () => {
      const folder = mkdtempSync(join(root, "redis-"));
      const settings = { dir: folder, appendonly: "yes" };
      const redis = await startRedis(settings);
      const state = redisState({ url: redis.url });
      await state.documents.set("pin:a", { accepted: true });
      await state.close();
      const copy = newFolder();
      expect(script("backup", [copy], { REDIS_URL: redis.url })).toMatchObject({ status: 0, stderr: "" });
      await redis.stop();

      renameSync(folder, `${folder}-lost`);
      const fresh = mkdtempSync(join(root, "redis-"));
      copyFileSync(join(copy, "redis.rdb"), join(fresh, "dump.rdb"));
      const started = await startRedis({ dir: fresh, appendonly: "no" });
      expect(started.command("config", "set", "appendonly", "yes").trim()).toBe("OK");
      const restored = redisState({ url: started.url });
      expect((await restored.documents.get("pin:a"))?.value).toEqual({ accepted: true });
      await restored.close();
      await started.stop();
    },
  );
});
