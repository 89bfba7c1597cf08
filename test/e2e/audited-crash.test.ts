import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { repeats, some } from "../kit/effort.ts";
import { postgresMissing, type RealPostgres, realPostgres } from "../services/postgres.ts";
import { askAt } from "../serve/rest-gateway.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { auditOf } from "./replicas/audit-log.ts";
import { modernClient } from "./replicas/clients.ts";
import { eventually } from "./replicas/eventually.ts";
import { startUpstream } from "./replicas/upstream.ts";

const SECRET = "nobody outside this test knows this secret";

/** Where a log is kept. */
interface Log {
  readonly name: string;
  /** Settings of a new log. */
  open(): Promise<Readonly<Record<string, unknown>>>;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-audited-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const file: Log = { name: "a file", open: async () => ({ file: join(newFolder(), "audit.jsonl") }) };
const postgres: Log = {
  name: "PostgreSQL",
  async open() {
    const server = (await realPostgres()) as RealPostgres;
    onTestFinished(() => server.remove());
    return { type: "postgres", url: await server.database(), secret: SECRET };
  },
};
const LOGS = postgresMissing() === undefined ? [file, postgres] : [file];

/** Starts a gateway over a server that books seats. It audits calls with their arguments. */
async function setUp(log: Log) {
  const upstream = await startUpstream("modern");
  onTestFinished(() => upstream.close());
  const audit = { ...(await log.open()), arguments: "full" };
  const start = async (): Promise<GatewayProcess> => {
    const gateway = await startGateway({
      servers: { young: { type: "http", url: upstream.url } },
      mode: "static",
      tier: "lexical",
      settings: { audit, security: { max_requests_per_minute: 1_000_000, allowed_domains: ["127.0.0.1"] } },
    });
    onTestFinished(async () => void (await gateway.close()));
    return gateway;
  };
  return { audit, start };
}

async function kill(gateway: GatewayProcess): Promise<void> {
  process.kill(gateway.pid, "SIGKILL");
  await gateway.close();
}

describe.each(some(LOGS, 1, "audited-crash"))(
  "a gateway with an audit log in $name that is killed under load",
  (log) => {
    it("has a record of every call that it answered, once", async () => {
      const { start } = await setUp(log);
      const answered: string[] = [];
      for (let round = 0; round < repeats(1, 20); round++) {
        const gateway = await start();
        const before = answered.length;
        const client = modernClient({ url: gateway.url, key: "" });
        const callers = Array.from({ length: 32 }, async () => {
          for (;;) {
            const id = randomUUID();
            const { said } = await client.call("young-book", { id });
            if (said === undefined) return;
            answered.push(id);
          }
        });
        await eventually("calls are under way", () => answered.length > before + 200);
        await kill(gateway);
        await Promise.all(callers);
      }
      const { idsOf, verified } = await auditOf((await start()).url);
      const records = await idsOf("young.book");
      expect(answered.filter((id) => records.get(id) !== 1)).toEqual([]);
      expect([...records.values()].filter((count) => count !== 1)).toEqual([]);
      expect(await verified()).toMatchObject({ ok: true });
      expect(await verified()).not.toHaveProperty("missing");
    });

    it("has a record of an operator's action during which it died", async () => {
      const { start } = await setUp(log);
      const gateway = await start();
      const silent = createServer().listen(0, "127.0.0.1");
      onTestFinished(() => void silent.closeAllConnections());
      onTestFinished(() => void silent.close());
      await once(silent, "listening");
      const reached = once(silent, "request");
      const { port } = silent.address() as AddressInfo;
      const ask = askAt(`${gateway.url}/api/v1`);
      const body = { name: "slow", transport: { kind: "http", url: `http://127.0.0.1:${port}/mcp` } };
      const asked = ask("POST", "/ensembles", { body: { type: "mcp", ...body } }).catch(() => undefined);
      await reached;
      await kill(gateway);
      await asked;
      const { records } = await auditOf((await start()).url);
      expect(await records("kind=operator-action")).toMatchObject([
        { action: "addEnsemble", targets: ["slow"], outcome: "started" },
      ]);
    });
  },
);

it("a log that cannot be written is reported once, and says how many records are missing when it can be", async () => {
  const open: Log["open"] = async () => ({ ...(await file.open()), on_failure: "allow" });
  const { audit, start } = await setUp({ name: "a file", open });
  const place = (audit as { readonly file?: string }).file ?? "";
  mkdirSync(place);
  const gateway = await start();
  const client = modernClient({ url: gateway.url, key: "" });
  const book = async (): Promise<unknown> => (await client.call("young-book", { id: "seat" })).said;
  for (let round = 0; round < 20; round++)
    expect(await Promise.all(Array.from({ length: 10 }, book))).toEqual(
      Array.from({ length: 10 }, () => "booked seat"),
    );
  const reports = (): number => gateway.log().split('"audit-failed"').length - 1;
  expect(reports()).toBe(1);
  rmdirSync(place);
  expect(await book()).toBe("booked seat");
  await eventually("it is reported", () => gateway.log().includes('"audit-restored"'));
  expect(reports()).toBeLessThanOrEqual(2);
  const { records, verified } = await auditOf(gateway.url);
  // A few records that still waited to be written are in the log; every other one is counted as missing.
  const missing = (await records("kind=gap")).reduce((sum, gap) => sum + Number(gap["records"]), 0);
  expect(missing).toBeGreaterThan(150);
  expect(missing + (await records("kind=call")).length).toBe(201);
  expect(await verified()).toMatchObject({ ok: true, missing });
});
