import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { runInMemory, type Ran } from "../../../../test/e2e/terminal.ts";
import { type RealPostgres, realPostgres } from "../../../../test/services/postgres.ts";
import { fileAudit } from "../../../adapters/audit/file/file.ts";
import { postgresAudit } from "../../../adapters/audit/postgres.ts";
import { hmacKey } from "../../../guard/audit/key.ts";
import { openPostgres } from "../../../adapters/postgres/postgres.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";

const folders: string[] = [];
let folder: string;
let file: string;
let head: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-audit-"));
  folders.push(folder);
  file = join(folder, "audit.jsonl");
  await writeFile(join(folder, "arsenal.yaml"), "audit: { file: ./audit.jsonl }\n");
  const log = fileAudit({ file, clock: createManualClock(Date.UTC(2026, 0, 31)) });
  for (const toolId of ["crm.find", "crm.send\u001B[2J"])
    await log.append({ kind: "approval", id: "1", toolId, outcome: "approved", by: "dana" });
  await log.close();
  const { seq, hash } = JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "");
  head = `${seq}:${hash}`;
});
const server = await realPostgres();
afterAll(async () => {
  await server?.remove();
  for (const made of folders) await rm(made, { recursive: true });
});

const run = (...argv: string[]): Promise<Ran> => runInMemory(["audit", ...argv], { folder });

describe("toolarsenal audit verify", () => {
  it("has nothing to complain of before the first call, but does once a log was removed", async () => {
    await rm(file);
    const gone = await run("verify");
    expect(gone).toMatchObject({ code: 2, err: expect.stringContaining("find out who removed it") as string });
    const fresh = join(folder, "fresh.yaml");
    await writeFile(fresh, "audit: { file: ./fresh.jsonl }\n");
    expect(await run("verify", "--config", fresh)).toEqual({
      code: 0,
      out: "",
      err: `Nothing is recorded yet: ${join(folder, "fresh.jsonl")} is created by the first call.\n`,
    });
    expect(await run("verify", "--json", "--config", fresh)).toMatchObject({
      code: 0,
      out: '{"ok":true,"records":0}\n',
    });
    expect((await run("verify", "--head", head, "--config", fresh)).code).toBe(2);
  });

  it("finds a log whole, says how far it is signed, and prints its head", async () => {
    const said = `4 records unchanged, signed up to 4.\nHead ${head}\n`;
    expect(await run("verify")).toEqual({ code: 0, out: said, err: "" });
    expect(await run("verify", "--head", head)).toEqual({ code: 0, out: said, err: "" });
    expect(await run("verify", "--key", "audit.jsonl.key.pub")).toEqual({ code: 0, out: said, err: "" });
    expect(JSON.parse((await run("verify", "--json")).out)).toMatchObject({ ok: true, records: 4, signedUpTo: 4 });
  });

  it("names the first bad record, its file and line, and exits with 1", async () => {
    writeFileSync(file, readFileSync(file, "utf8").replace("dana", "eve!"));
    const bad = await run("verify");
    expect(bad).toEqual({
      code: 1,
      out: `Record 2 was changed: its hash does not match its content. (${file}:2)\n`,
      err: "",
    });
    expect(JSON.parse((await run("verify", "--json")).out)).toMatchObject({ ok: false, seq: 2, line: 2 });
  });

  it("finds a log cut off before the head that was kept", async () => {
    writeFileSync(file, `${readFileSync(file, "utf8").split("\n").slice(0, 3).join("\n")}\n`);
    expect((await run("verify")).code).toBe(0);
    expect(await run("verify", "--head", head)).toMatchObject({
      code: 1,
      out: "Record 4 is missing: the log ends before it, but once reached record 4.\n",
    });
  });

  it("says where signatures are not checked", async () => {
    await rm(`${file}.key`);
    await rm(`${file}.key.pub`);
    const { code, out, err } = await run("verify");
    expect([code, out]).toEqual([0, `4 records unchanged.\nHead ${head}\n`]);
    expect(err).toContain("Signatures were not checked");
  });

  it.each([
    [["verify", "--head", "7"], "--head is not a valid head. Use the SEQ:HASH that an earlier verify printed."],
    [["verify", "--key", "none.pem"], "Cannot read the key none.pem. Check the path."],
    [["inspect"], 'There is no action "audit inspect". Use verify, tail or prune.'],
  ])("says what is wrong with %j", async (argv, message) => {
    expect(await run(...argv)).toMatchObject({ code: 2, err: `INPUT_INVALID ${message}\n` });
  });

  it("says that there is no log yet, or none configured", async () => {
    expect(await run("verify", "--file", "other.jsonl")).toMatchObject({
      code: 2,
      err: expect.stringContaining("There is no audit log at"),
    });
    await writeFile(join(folder, "none.yaml"), "{}\n");
    expect(await run("verify", "--config", "none.yaml")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Set audit.file"),
    });
  });
});

describe("toolarsenal audit tail", () => {
  it("shows the last records, harmlessly", async () => {
    const { code, out } = await run("tail", "--lines", "3");
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.trimEnd())).toEqual([
      "2  2026-01-31T00:00:00.000Z  approval    approved  crm.find  dana",
      "3  2026-01-31T00:00:00.000Z  approval    approved  crm.send  dana",
      "4  2026-01-31T00:00:00.000Z  checkpoint",
      "",
    ]);
  });

  it("shows what operators did, and to what", async () => {
    const log = fileAudit({ file, clock: createManualClock(Date.UTC(2026, 0, 31)) });
    const act = { kind: "operator-action", id: "1", action: "addMcpServer", targets: ["files"], by: "ann" } as const;
    await log.append({ ...act, outcome: "denied", code: "PERMISSION_DENIED" });
    await log.close();
    expect((await run("tail", "--lines", "3")).out).toMatch(
      /operator-action +denied +addMcpServer files +ann +PERMISSION_DENIED/,
    );
  });

  it("prints the lines as they are with --json", async () => {
    expect((await run("tail", "--json")).out).toBe(readFileSync(file, "utf8"));
    expect((await run("tail", "--json", "--lines", "1")).out.split("\n")).toHaveLength(2);
  });
});

describe("toolarsenal audit prune", () => {
  it("counts with --dry-run, then removes what is older, and the log still verifies", async () => {
    const log = fileAudit({ file, clock: createManualClock(Date.UTC(2026, 1, 10)) });
    await log.append({ kind: "gap", records: 1 });
    await log.close();
    expect(await run("prune", "--before", "2026-02-01", "--dry-run")).toEqual({
      code: 0,
      out: `Would remove 4 records before 2026-02-01T00:00:00.000Z, up to ${head}\n`,
      err: "",
    });
    expect((await run("verify")).out).toContain("7 records unchanged, signed up to 7.");
    expect(await run("prune", "--before", "2026-02-01")).toMatchObject({
      code: 0,
      out: `Removed 4 records before 2026-02-01T00:00:00.000Z, up to ${head}\n`,
    });
    const { code, out } = await run("verify", "--head", head);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining("5 records unchanged, signed up to 9.\nRecords up to 4 were pruned"),
    ]);
    expect((await run("tail")).out).toContain("pruned");
    expect((await run("prune", "--before", "2026-02-01")).out).toBe(
      "No record is older than 2026-02-01T00:00:00.000Z.\n",
    );
  });

  it.each([
    ["no date", [], "prune needs --before DATE"],
    ["another word", ["--before", "yesterday"], '--before "yesterday" is not a date'],
    ["the future", ["--before", "2999-01-01"], "--before 2999-01-01 is in the future"],
  ])("refuses %s", async (_what, given, problem) => {
    const { code, err } = await run("prune", ...given);
    expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
    expect((await run("verify")).out).toContain("4 records unchanged");
  });

  it("removes nothing from a log that was changed", async () => {
    writeFileSync(file, readFileSync(file, "utf8").replace("dana", "eve!"));
    const changed = readFileSync(file, "utf8");
    const { code, err } = await run("prune", "--before", "2026-02-01");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("Nothing was pruned: record 2 of the audit log was changed"),
    ]);
    expect(readFileSync(file, "utf8")).toBe(changed);
  });
});

// because PostgreSQL is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("toolarsenal audit, of a log in PostgreSQL", () => {
  const real = server as RealPostgres;

  it("verifies it with the configured secret, shows its end, and names what was changed", async () => {
    const url = await real.database();
    const secret = "a secret of thirty-two characters";
    const config = { audit: { type: "postgres", url, secret: "env:AUDIT_SECRET" } };
    await writeFile(join(folder, "arsenal.yaml"), JSON.stringify(config));
    const environment = { AUDIT_SECRET: secret };
    const audit = (...argv: string[]): Promise<Ran> => runInMemory(["audit", ...argv], { folder, environment });
    expect(await audit("verify")).toEqual({
      code: 0,
      out: "",
      err: "Nothing is recorded yet: the table audit_record in the schema toolarsenal is created by the first call.\n",
    });
    const log = postgresAudit({ url, key: hmacKey(secret), clock: createManualClock(Date.UTC(2026, 0, 31)) });
    await log.append({ kind: "approval", id: "1", toolId: "crm.find", outcome: "approved", by: "dana" });
    await log.close();
    const { code, out } = await audit("verify");
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^3 records unchanged, signed up to 3.\nHead 3:[0-9a-f]{64}\n$/),
    ]);
    const end = (await audit("tail", "--lines", "2")).out.split("\n").map((line) => line.trimEnd());
    expect(end).toEqual([
      "2  2026-01-31T00:00:00.000Z  approval    approved  crm.find  dana",
      "3  2026-01-31T00:00:00.000Z  checkpoint",
      "",
    ]);
    expect((await audit("prune", "--before", "2026-02-01")).out).toMatch(
      /^Removed 3 records .* up to 3:[0-9a-f]{64}\n$/,
    );
    expect((await audit("verify")).out).toMatch(/^2 records unchanged, signed up to 5.\nRecords up to 3 were pruned/);
    const later = postgresAudit({ url, key: hmacKey(secret) });
    await later.append({ kind: "approval", id: "2", toolId: "crm.find", outcome: "approved", by: "dana" });
    await later.close();
    const admin = openPostgres({ url, what: "A test", field: "url" });
    await admin.query("UPDATE toolarsenal.audit_record SET line = replace(line, 'dana', 'eve!')", []);
    await admin.close();
    expect(await audit("verify")).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Record 7 was changed: its hash does not match its content\.\n/) as string,
    });
  });
});
