/**
 * The scaling of each engine: `node bench/scale.ts [--sizes 1000,10000,100000,1000000] [--engines memory,sqlite,postgres] [--postgres URL] [--json]`.
 *
 * For each engine and size, one process fills the store and another one opens it and answers requests, so that its memory is that of a replica
 * that serves. Requests go through the whole of `retrieve`, by words and by the static tier's vectors. The ratio compares with the memory engine
 * of the same size in the same run. Without `--postgres` a server is started if this machine has one with pgvector, with its default settings except
 * 1 GB of maintenance_work_mem, for building the index of a million vectors. Filling PostgreSQL includes building that index.
 * Progress goes to stderr.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { openPostgres } from "../src/adapters/postgres/postgres.ts";
import { ToolArsenal } from "../src/arsenal.ts";
import { shortRequests, syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { table } from "../src/cli/terminal/style.ts";
import type { ToolArsenalConfig, VectorStoreConfig } from "../src/config/config.ts";
import { defineTool } from "../src/tool/define-tool.ts";
import { divideOptions } from "../src/wire/parts.ts";
import { wireArsenal } from "../src/wire/wire.ts";

/** The task of a process. */
interface Task {
  readonly step: "fill" | "search";
  readonly size: number;
  readonly config: ToolArsenalConfig;
}

/** One engine at one size. Milliseconds and bytes. */
interface EngineFigures {
  readonly engine: string;
  readonly size: number;
  readonly indexMs: number;
  readonly firstMs: number;
  readonly residentBytes: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly failure?: string;
}

const PAGE = 1_000;
/** With fewer tools PostgreSQL compares every vector. */
const HNSW_FROM = 20_000;
const WARM_UP = 20;
const REQUESTS = 200;
const ROUNDS = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sizes: { type: "string", default: "1000,10000,100000,1000000" },
    engines: { type: "string", default: "memory,sqlite,postgres" },
    postgres: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const [given] = positionals;
if (given === undefined) await compareAll();
else process.stdout.write(JSON.stringify(await runTask(JSON.parse(given) as Task)));

async function compareAll(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "scale-"));
  const rows: EngineFigures[] = [];
  const stop: (() => Promise<void>)[] = [];
  try {
    for (const engine of values.engines.split(",")) {
      let url = values.postgres;
      if (engine === "postgres" && url === undefined) {
        const { realPostgres } = await import("../test/services/postgres.ts");
        const server = await realPostgres({ vector: true });
        if (server === undefined) continue;
        stop.push(server.remove);
        url = await server.database();
        const postgres = openPostgres({ url, what: "The benchmark", field: "--postgres" });
        await postgres.query(
          "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET maintenance_work_mem = %L', current_database(), '1GB'); END $$",
        );
        await postgres.close();
      }
      for (const size of values.sizes.split(",").map(Number)) {
        const row = await measure(engine, size, storeOf(engine, size, folder, url));
        rows.push(row);
        console.error(`${engine} ${size}: ${row.failure ?? `P50 ${row.p50Ms.toFixed(1)} ms`}`);
      }
    }
  } finally {
    for (const end of stop) await end();
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(values.json ? `${JSON.stringify(rows)}\n` : show(rows));
}

function storeOf(engine: string, size: number, folder: string, url = ""): VectorStoreConfig {
  const name = `scale_${size}`;
  if (engine === "memory") return { type: "memory", snapshot: join(folder, `${name}.snapshot`) };
  if (engine === "sqlite") return { type: "sqlite", file: join(folder, `${name}.sqlite`) };
  return { type: "postgres", url, schema: name };
}

async function measure(engine: string, size: number, vectorStore: VectorStoreConfig): Promise<EngineFigures> {
  const config: ToolArsenalConfig = {
    telemetry: { enabled: false },
    embedder: { tier: "static", cache: false },
    vectorStore,
  };
  const row = { engine, size, indexMs: 0, firstMs: 0, residentBytes: 0, p50Ms: 0, p95Ms: 0 };
  try {
    const filled = await inProcess({ step: "fill", size, config });
    return { ...row, ...filled, ...(await inProcess({ step: "search", size, config })) };
  } catch (error) {
    const { stderr = "", message } = error as { readonly stderr?: string; readonly message: string };
    const said = stderr.split("\n").find((line) => /error/i.test(line)) ?? message;
    return { ...row, failure: said.slice(0, 160) };
  }
}

async function inProcess(task: Task): Promise<Partial<EngineFigures>> {
  const args = [fileURLToPath(import.meta.url), JSON.stringify(task)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout) as Partial<EngineFigures>;
}

async function runTask({ step, size, config }: Task): Promise<Partial<EngineFigures>> {
  return step === "fill" ? fill(size, config) : search(config);
}

/** Puts and embeds the tools page by page, as a registration does. */
async function fill(size: number, config: ToolArsenalConfig): Promise<Partial<EngineFigures>> {
  const { catalog, close } = wireArsenal(divideOptions(config));
  const started = performance.now();
  for (let from = 0; from < size; from += PAGE)
    await catalog.upsert(syntheticTools(Math.min(PAGE, size - from), from).map(defineTool));
  if (config.vectorStore?.type === "postgres" && size >= HNSW_FROM) await indexBuilt(config.vectorStore);
  await close();
  return { indexMs: performance.now() - started };
}

/** Resolves once the HNSW index exists, which the engine builds in the background. */
async function indexBuilt({ url = "", schema = "" }: VectorStoreConfig): Promise<void> {
  const postgres = openPostgres({ url, what: "The benchmark", field: "--postgres" });
  const sql = `SELECT 1 AS found FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE indisvalid AND relname LIKE 'vectors%hnsw' AND nspname = $1`;
  while ((await postgres.query(sql, [schema])).length === 0) await setTimeout(1_000);
  await postgres.close();
}

async function search(config: ToolArsenalConfig): Promise<Partial<EngineFigures>> {
  const started = performance.now();
  await using arsenal = new ToolArsenal(config);
  const ask = async (query: string): Promise<number> => {
    const from = performance.now();
    const { tools } = await arsenal.retrieve({ context: { query }, limit: 5 });
    if (tools.length === 0) throw new Error(`Nothing was found for "${query}".`);
    return performance.now() - from;
  };
  await ask("list the invoice of acme");
  const firstMs = performance.now() - started;
  for (const query of shortRequests(WARM_UP, REQUESTS * ROUNDS)) await ask(query);
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const took: number[] = [];
    for (const query of shortRequests(REQUESTS, round * REQUESTS)) took.push(await ask(query));
    rounds.push(took.toSorted((left, right) => left - right));
  }
  // The best of the rounds: other load only adds time.
  const best = (share: number): number => Math.min(...rounds.map((took) => took[Math.floor(share * REQUESTS)] ?? 0));
  return { firstMs, residentBytes: process.memoryUsage.rss(), p50Ms: best(0.5), p95Ms: best(0.95) };
}

function show(rows: readonly EngineFigures[]): string {
  const baseline = new Map(rows.filter(({ engine }) => engine === "memory").map((row) => [row.size, row]));
  const lines = rows.map(({ engine, size, indexMs, firstMs, residentBytes, p50Ms, p95Ms, failure }) => {
    if (failure !== undefined) return [engine, size.toLocaleString("en"), failure];
    const memory = baseline.get(size);
    return [
      engine,
      size.toLocaleString("en"),
      (indexMs / 1000).toFixed(1),
      firstMs.toFixed(0),
      (residentBytes / 1e6).toFixed(0),
      p50Ms.toFixed(1),
      p95Ms.toFixed(1),
      memory === undefined || memory.failure !== undefined ? "–" : `${(p50Ms / memory.p50Ms).toFixed(1)} ×`,
    ];
  });
  const head = ["engine", "tools", "fill s", "first answer ms", "resident MB", "P50 ms", "P95 ms", "P50 to memory"];
  return `${table([head, ...lines])}\n`;
}
