import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pglite, type RealPostgres, realPostgres } from "../../../test/services/postgres.ts";
import { hmacKey } from "../../guard/audit/key.ts";
import { type FileVerification, verifyLines } from "../../guard/audit/verifier.ts";
import type { AuditRecord } from "../../guard/audit.port.ts";
import { auditContract } from "../../testing/audit.contract.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { EmbeddedPostgres } from "../postgres/client.ts";
import { openPostgres } from "../postgres/postgres.ts";
import { postgresAudit, type PostgresAuditOptions, postgresAuditTable } from "./postgres.ts";

const SECRET = "a secret of thirty-two characters";
const key = hmacKey(SECRET);
const record = (records: number): AuditRecord => ({ kind: "gap", records });

const server = await realPostgres();
afterAll(() => server?.remove());

let schemas = 0;

type LogTable = Pick<PostgresAuditOptions, "url" | "client" | "schema">;

async function verified(
  place: LogTable,
  head?: { readonly seq: number; readonly hash: string },
): Promise<FileVerification> {
  const table = postgresAuditTable(place);
  const found = await verifyLines(table.lines(), { keys: [key], ...(head && { head }) });
  await table.close();
  return found;
}

async function recordsOf(place: LogTable): Promise<readonly Record<string, unknown>[]> {
  const table = postgresAuditTable(place);
  const lines = await table.last(100_000);
  await table.close();
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** What holds on every database. */
function claims(database: () => Omit<LogTable, "schema">): void {
  const newPlace = (): LogTable => ({ ...database(), schema: `audit ${++schemas}` });

  for (const { name, run } of auditContract(() => ({ adapter: postgresAudit({ ...newPlace(), key }) }))) it(name, run);

  it("chains lines as the file log does, signed at the start and the end", async () => {
    const place = newPlace();
    const log = postgresAudit({ ...place, key, clock: createManualClock(1_000) });
    await log.append({ kind: "approval", id: "1", toolId: "ä\u0000\uD83D\uDE00", outcome: "approved", by: "dana" });
    await log.close();
    const [start, only, end] = await recordsOf(place);
    expect(start).toMatchObject({ seq: 1, at: 1_000, kind: "checkpoint", prev: "0".repeat(64), key: key.id });
    expect(only).toMatchObject({ seq: 2, toolId: "ä\u0000\uD83D\uDE00", prev: start?.["hash"], hash: end?.["prev"] });
    expect(end).toMatchObject({ seq: 3, kind: "checkpoint" });
    expect(await verified(place)).toMatchObject({ ok: true, records: 3, signedUpTo: 3 });
  });

  it("verifies a log of more than one page, with checkpoints where they are due", async () => {
    const place = newPlace();
    const log = postgresAudit({ ...place, key, checkpointEvery: 100 });
    await Promise.all(Array.from({ length: 2_500 }, (_, index) => log.append(record(index))));
    const head = await log.head();
    await log.close();
    const kept = (await recordsOf(place)).filter(({ kind }) => kind === "gap");
    expect(kept.map(({ records }) => records)).toEqual(Array.from({ length: 2_500 }, (_, index) => index));
    expect(await verified(place, head)).toMatchObject({ ok: true, signedUpTo: head.seq + 1 });
  });

  it("names the first record that was changed or removed, and notes a log that became shorter", async () => {
    const place = newPlace();
    const log = postgresAudit({ ...place, key });
    for (const number of [1, 2, 3]) await log.append(record(number));
    const admin = openPostgres({ ...place, what: "A test", field: "url" });
    await admin.query(`DELETE FROM "${place.schema}".audit_record WHERE seq > 2`, []);
    await log.append(record(4));
    await log.close();
    expect(await verified(place)).toMatchObject({ ok: false, seq: 3, reason: expect.stringContaining("up to 4") });
    await admin.query(
      `UPDATE "${place.schema}".audit_record SET line = replace(line, '"records":1', '"records":9')`,
      [],
    );
    expect(await verified(place)).toMatchObject({ ok: false, seq: 2, reason: expect.stringContaining("was changed") });
    await admin.close();
  });

  it("does not go on from a last line that was changed", async () => {
    const place = newPlace();
    const log = postgresAudit({ ...place, key });
    await log.append(record(1));
    const admin = openPostgres({ ...place, what: "A test", field: "url" });
    await admin.query(
      `UPDATE "${place.schema}".audit_record SET line = replace(line, '"records":1', '"records":9')`,
      [],
    );
    await expect(log.append(record(2))).rejects.toMatchObject({
      code: "AUDIT_FAILED",
      message: expect.stringContaining("was changed or damaged at its end"),
    });
    await log.close().catch(() => {});
    await admin.close();
  });
}

describe("postgresAudit in PGlite", () => {
  let embedded: EmbeddedPostgres & { close(): Promise<void> };
  beforeAll(async () => (embedded = await pglite()), 120_000);
  afterAll(() => embedded.close());
  claims(() => ({ url: "unused", client: embedded }));
});

// because PostgreSQL is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("postgresAudit on a server", () => {
  const real = server as RealPostgres;
  claims(() => ({ url: real.url }));

  /** A process of its own that appends in batches, and prints how many were kept after each. */
  function writer(url: string, who: string): ReturnType<typeof spawn> {
    const audit = JSON.stringify(new URL("postgres.ts", import.meta.url).href);
    const keys = JSON.stringify(new URL("../../guard/audit/key.ts", import.meta.url).href);
    const program = `
      const { postgresAudit } = await import(${audit});
      const { hmacKey } = await import(${keys});
      const log = postgresAudit({ url: ${JSON.stringify(url)}, key: hmacKey(${JSON.stringify(SECRET)}), checkpointEvery: 50 });
      let stop = false;
      process.stdin.on("data", () => (stop = true));
      for (let kept = 0; !stop; ) {
        const batch = [1, 2, 3, 4, 5].map((n) => log.append({ kind: "gap", records: kept + n, who: ${JSON.stringify(who)} }));
        await Promise.all(batch);
        process.stdout.write(String((kept += 5)) + "\\n");
      }
      await log.close();
      process.exit(0);`;
    return spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["pipe", "pipe", "inherit"] });
  }

  it("is one chain, whole, where three processes write it and one is killed", async () => {
    const url = await real.database();
    const kept: Record<string, number> = { a: 0, b: 0, c: 0 };
    const children = ["a", "b", "c"].map((who) => {
      const child = writer(url, who);
      const enough = new Promise<void>((resolve) => {
        child.stdout?.on("data", (text: Buffer) => {
          kept[who] = Number(String(text).trim().split("\n").at(-1));
          if (kept[who] >= 50) resolve();
        });
      });
      return { child, enough };
    });
    await Promise.all(children.map(({ enough }) => enough));
    const [killed, ...others] = children.map(({ child }) => ({ child, closed: once(child, "close") }));
    killed?.child.kill("SIGKILL");
    await killed?.closed;
    for (const { child } of others) child.stdin?.write("stop");
    for (const { closed } of others) expect(await closed).toEqual([0, null]);
    expect(await verified({ url })).toMatchObject({ ok: true });
    const records = await recordsOf({ url });
    for (const [who, count] of Object.entries(kept)) {
      const own = records.filter((each) => each["who"] === who).map((each) => each["records"]);
      expect(own.length).toBeGreaterThanOrEqual(count);
      expect(own).toEqual(Array.from(own, (_, index) => index + 1));
    }
  });

  it("loses nothing that it said was kept when the server is killed, and goes on unaided in the same chain", async () => {
    const own = (await realPostgres()) as RealPostgres;
    const log = postgresAudit({ url: own.url, key });
    const kept: number[] = [];
    let number = 0;
    let failed = Promise.withResolvers<unknown>();
    let works = Promise.withResolvers<void>();
    const stop = new AbortController();
    const writing = (async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const mine = ++number;
        await log.append(record(mine)).then(
          () => (kept.push(mine), works.resolve()),
          (error: unknown) => failed.resolve(error),
        );
      }
    })();
    for (let time = 0; time < 2; time++) {
      await works.promise;
      failed = Promise.withResolvers();
      await own.kill();
      expect(await failed.promise).toMatchObject({ code: "AUDIT_FAILED", details: { field: "audit.url" } });
      works = Promise.withResolvers();
      await own.start();
    }
    await works.promise;
    stop.abort();
    await writing;
    const head = await log.head();
    await log.close();
    expect(await verified({ url: own.url }, head)).toMatchObject({ ok: true });
    const found = new Set((await recordsOf({ url: own.url })).map(({ records }) => records));
    expect(kept.filter((each) => !found.has(each))).toEqual([]);
    await own.remove();
  });

  it("refuses a table of a later release, and says how to fix a wrong password", async () => {
    const url = await real.database();
    const first = postgresAudit({ url, key });
    await first.append(record(1));
    await first.close();
    const admin = openPostgres({ url, what: "A test", field: "url" });
    await admin.query("UPDATE toolarsenal.versions SET version = 99 WHERE part = 'audit'", []);
    const newer = postgresAudit({ url, key });
    await expect(newer.append(record(2))).rejects.toThrow("were written by a later release (version 99");
    await newer.close();
    expect(await admin.query("SELECT count(*)::int AS rows FROM toolarsenal.audit_record", [])).toEqual([{ rows: 3 }]);
    await admin.close();
    const wrong = postgresAudit({ url: url.replace(/:[0-9a-f]+@/, ":wrong@"), key });
    await expect(wrong.append(record(2))).rejects.toThrow("Check the user and the password in audit.url.");
    await wrong.close();
  });
});
