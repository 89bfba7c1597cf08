import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyText, hashOfKey, updateKeyFile } from "../../src/adapters/identity/api-keys/key-file.ts";
import { CAPABILITIES } from "../../src/tool/tool.ts";
import { IS_DEEP, repeats } from "../kit/effort.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type LegacyClient, legacyClient, modernClient } from "./replicas/clients.ts";
import { eventually } from "./replicas/eventually.ts";

const ATTACKER = fileURLToPath(new URL("hostile/attacker.ts", import.meta.url));
const REPORTER = new URL("hostile/report-memory.ts", import.meta.url);

/** Four seconds of attack, sixty in a deep run, in rounds between which nobody attacks. */
const ROUNDS = 2;
const ATTACK_MS = repeats(4_000, 60_000) / ROUNDS;
const QUIET_MS = ATTACK_MS / 2;

const MODULE = `export default (arsenal) => {
  arsenal.register({ name: "look_up", description: "Looks up an order by its id.", parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
    ({ id }) => ({ id, status: "shipped" }));
  for (const thing of ["invoice", "customer", "refund", "ticket", "page", "file", "mail", "event"])
    for (const verb of ["Finds", "Lists", "Shows", "Counts", "Compares", "Exports"])
      arsenal.register({ name: verb.toLowerCase() + "_" + thing, description: verb + " one " + thing + ".", parameters: { type: "object", properties: {} } }, () => verb);
};`;

let folder: string;
let gateway: GatewayProcess;
const keys = { eve: "", ada: "", bob: "" };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-hostile-"));
  writeFileSync(join(folder, "tools.mjs"), MODULE);
  const file = join(folder, "keys.json");
  for (const id of ["eve", "ada", "bob"] as const) {
    keys[id] = createKeyText(id);
    const capabilities = id === "eve" ? [] : CAPABILITIES;
    const principal = { id, roles: [], capabilities, scopes: id === "eve" ? [] : ["*"], local: false };
    await updateKeyFile(file, (known) => [...known, { id, hash: hashOfKey(keys[id]), principal }]);
  }
  gateway = await startGateway({
    servers: {},
    tier: "lexical",
    nodeOptions: ["--max-old-space-size=256", "--expose-gc", "--import", reporter()],
    settings: {
      modules: [join(folder, "tools.mjs")],
      server: { auth: { api_keys: { file } } },
      state: { type: "sqlite", file: join(folder, "state.sqlite") },
      audit: { file: join(folder, "audit.jsonl") },
      // The others ask without a pause, so that what they are limited to must be higher than the defaults.
      a2a: { messages_per_minute: 1_000_000 },
      security: { max_requests_per_minute: 1_000_000, rates: { searches: 1_000_000 } },
    },
  });
});
afterAll(async () => {
  await gateway?.close();
  rmSync(folder, { recursive: true });
});

const memoryFile = (): string => join(folder, "memory");
const reporter = (): string => `${REPORTER.href}?file=${encodeURIComponent(memoryFile())}`;

/** What the gateway holds, in mebibytes: its live memory, and what it has of the machine's. */
async function memoryInUse(): Promise<{ readonly live: number; readonly resident: number }> {
  rmSync(memoryFile(), { force: true });
  process.kill(gateway.pid, "SIGUSR2");
  await eventually("memory is reported", () => existsSync(memoryFile()));
  const status = readFileSync(`/proc/${gateway.pid}/status`, "utf8");
  return {
    live: Number(readFileSync(memoryFile(), "utf8")) / 1024 / 1024,
    resident: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
  };
}

async function post(who: keyof typeof keys, path: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json", "x-api-key": keys[who] };
  const response = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${answer.slice(0, 300)}`);
  return JSON.parse(answer);
}

/** An ordinary request of another caller. Rejects unless the answer is the right one. */
type Ask = () => Promise<void>;

async function createAsks(session: LegacyClient): Promise<readonly Ask[]> {
  const caller = { url: gateway.url, key: keys.bob };
  const modern = modernClient(caller);
  let next = 0;
  return [
    async () => expect((await session.call("look_up", { id: `a${++next}` })).failed).toBeUndefined(),
    async () => expect((await modern.call("look_up", { id: `b${++next}` })).failed).toBeUndefined(),
    async () =>
      expect(
        await post("ada", "/api/v1/execute", { toolName: "look_up", arguments: { id: `c${++next}` } }),
      ).toMatchObject({
        status: "success",
      }),
    async () =>
      expect(await post("bob", "/api/v1/search", { context: { query: "look up an order" }, limit: 3 })).toMatchObject({
        tools: [{ tool: { id: "default.look_up" } }],
      }),
    async () => {
      const parts = [{ data: { tool: "look_up", arguments: { id: `d${++next}` } } }];
      const params = { message: { messageId: `m${next}`, role: "ROLE_USER", parts } };
      expect(await post("ada", "/a2a", { jsonrpc: "2.0", id: 1, method: "SendMessage", params })).toMatchObject({
        result: { task: { status: { state: "TASK_STATE_COMPLETED" } } },
      });
    },
  ];
}

/** CPU time that the gateway has used, in milliseconds. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Requests of the others: how long each took, and the CPU time of the gateway meanwhile, both in milliseconds. */
interface Asked {
  took: number[];
  cpu: number;
}

/** Asks one after the other for a while, and adds what it measured. */
async function askFor(asks: readonly Ask[], durationMs: number, asked: Asked): Promise<void> {
  const before = cpuMs();
  const end = performance.now() + durationMs;
  await Promise.all(
    asks.map(async (ask) => {
      while (performance.now() < end) {
        const startedAt = performance.now();
        await ask();
        asked.took.push(performance.now() - startedAt);
      }
    }),
  );
  asked.cpu += cpuMs() - before;
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) * share)] ?? 0;

function figuresOf(took: readonly number[]): Readonly<Record<"count" | "p50" | "p99", number>> {
  return { count: took.length, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}

/** Lets a caller without rights attack while `task` runs. Returns what it was answered. */
async function underAttack(task: () => Promise<void>): Promise<Readonly<Record<string, number>>> {
  const attacker = spawn(process.execPath, [ATTACKER, gateway.url, keys.eve], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: attacker.stdout })[Symbol.asyncIterator]();
  try {
    expect((await lines.next()).value).toBe("attacking");
    await task();
  } finally {
    attacker.kill("SIGTERM");
    await once(attacker, "exit");
  }
  return JSON.parse(String((await lines.next()).value)) as Record<string, number>;
}

describe("a caller without rights that attacks every surface at once", () => {
  it(
    "slows others down little, makes nothing of theirs fail, and leaves no memory behind",
    async () => {
      const unused = await legacyClient({ url: gateway.url, key: keys.bob });
      const asks = await createAsks(await legacyClient({ url: gateway.url, key: keys.ada }));
      await askFor(asks, QUIET_MS, { took: [], cpu: 0 });
      const before = await memoryInUse();
      const quiet: Asked = { took: [], cpu: 0 };
      const attacked: Asked = { took: [], cpu: 0 };
      const answered: Record<string, number> = {};
      for (let round = 0; round < ROUNDS; round++) {
        await askFor(asks, QUIET_MS, quiet);
        const seen = await underAttack(() => askFor(asks, ATTACK_MS, attacked));
        for (const [what, times] of Object.entries(seen)) answered[what] = (answered[what] ?? 0) + times;
      }
      const [idle, busy] = [figuresOf(quiet.took), figuresOf(attacked.took)];
      // The part of the gateway's work under attack that went into their requests.
      const share = (busy.count * (quiet.cpu / idle.count)) / attacked.cpu;
      const figures = { idle, busy, share, before, after: await memoryInUse(), answered };
      process.stdout.write(`${JSON.stringify(figures)}\n`);
      // Two callers, and one that attacks: they keep at least half.
      expect(share).toBeGreaterThan(0.5);
      // One turn of the event loop may take 100 ms. In a short run other tests may take the processor.
      if (IS_DEEP) expect(busy.p99).toBeLessThan(2 * idle.p99 + 100);
      await eventually("memory is given back", async () => (await memoryInUse()).live < 1.1 * before.live);
      expect((await unused.call("look_up", { id: "still here" })).failed).toBeUndefined();
    },
    100 * (ATTACK_MS + QUIET_MS) * ROUNDS,
  );
});
