/**
 * The engines compared with the memory engine: `node bench/engines.ts [--shared FOLDER] [--tools 10000] [--sets mcp-bench,…] [--databases]`.
 *
 * First checks that all rank the same: top 5 and NDCG@10 of the same requests over labelled sets, with the static tier. The baseline is the memory
 * engine with exact vectors. PostgreSQL is a server with pgvector if `scripts/ci-services` has made one, otherwise PGlite. With
 * `--databases` the vector databases too: Chroma's own server if test/peers is installed, and doubles of the others. Then a restart of
 * SQLite, unless `--tools` is 0: a new process opens an existing file and answers its first request. The baseline is the memory engine
 * with a snapshot. Last, the latency of a request on a warm engine.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { chromaEngine } from "../src/adapters/engines/chroma.ts";
import { memoryEngine } from "../src/adapters/engines/memory.ts";
import { pineconeEngine } from "../src/adapters/engines/pinecone.ts";
import { postgresEngine } from "../src/adapters/engines/postgres/postgres.ts";
import { qdrantEngine } from "../src/adapters/engines/qdrant.ts";
import { sqliteEngine } from "../src/adapters/engines/sqlite/sqlite.ts";
import { weaviateEngine } from "../src/adapters/engines/weaviate.ts";
import { internalsOf, ToolArsenal } from "../src/arsenal.ts";
import type { CatalogEngine } from "../src/catalog/catalog-engine.port.ts";
import { shortRequests, syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { table } from "../src/cli/terminal/style.ts";
import { figuresOf } from "../src/eval/metrics.ts";
import { pineconeDouble } from "../test/doubles/pinecone.ts";
import { qdrantDouble } from "../test/doubles/qdrant.ts";
import { weaviateDouble } from "../test/doubles/weaviate.ts";
import { realChroma } from "../test/services/chroma.ts";
import { pglite, realPostgres } from "../test/services/postgres.ts";
import { type LabelledSet, readSets } from "./retrieval-sets.ts";

/** The input and the measurements of the restarted process, in milliseconds. */
interface Restart {
  readonly engine: "sqlite" | "memory";
  readonly file: string;
}
interface Restarted {
  readonly firstMs: number;
  readonly firstCpuMs: number;
  readonly warmCpuMs: number;
}

const WARM_REQUESTS = 100;
const ROUNDS = 3;

const { values } = parseArgs({
  options: {
    shared: { type: "string" },
    sets: { type: "string" },
    databases: { type: "boolean", default: false },
    tools: { type: "string", default: "10000" },
    restart: { type: "string" },
  },
});
if (values.restart === undefined) {
  const shared = values.shared ?? fileURLToPath(new URL("../../shared", import.meta.url));
  if (existsSync(join(shared, "eval"))) await compareAll(shared, values.sets?.split(","));
  else console.log(`No labelled sets: ${join(shared, "eval")} does not exist. Give their folder with --shared FOLDER.`);
  if (Number(values.tools) > 0) process.stdout.write(await measureRestarts(Number(values.tools)));
} else {
  process.stdout.write(JSON.stringify(await restart(JSON.parse(values.restart) as Restart)));
}

function arsenalOn(engine: CatalogEngine): ToolArsenal {
  return new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "static", cache: false }, engine });
}

type Engines = Readonly<Record<string, CatalogEngine>>;

async function compareAll(shared: string, names: readonly string[] | undefined): Promise<void> {
  const server = await realPostgres({ vector: true });
  const embedded = server ? undefined : await pglite();
  const client = embedded ? { client: embedded } : { url: server?.url ?? "" };
  let schemas = 0;
  try {
    for (const set of readSets(shared)) {
      if (names?.includes(set.name) === false) continue;
      const engines = {
        sqlite: sqliteEngine({ file: ":memory:" }),
        postgres: postgresEngine({ ...client, schema: `bench_${++schemas}` }),
        "memory in int8": memoryEngine(),
      };
      const compareWith = (more: Engines): Promise<string> => compare(set, { ...engines, ...more });
      process.stdout.write(await (values.databases ? withDatabases(compareWith) : compareWith({})));
    }
  } finally {
    await embedded?.close();
    await server?.remove();
  }
}

/** Runs with an engine on each vector database. */
async function withDatabases(run: (engines: Engines) => Promise<string>): Promise<string> {
  const chroma = await realChroma();
  const doubles = await Promise.all([qdrantDouble(), weaviateDouble(), pineconeDouble({ dimension: 256 })]);
  const [qdrant, weaviate, pinecone] = doubles.map(({ url }) => url);
  try {
    return await run({
      ...(chroma ? { "chroma (real)": chromaEngine({ url: chroma.url }) } : {}),
      qdrant: qdrantEngine({ url: qdrant }),
      weaviate: weaviateEngine({ url: weaviate }),
      pinecone: pineconeEngine({ url: pinecone }),
    });
  } finally {
    for (const double of doubles) await double.close();
    await chroma?.remove();
  }
}

async function compare({ name, tools, requests }: LabelledSet, others: Engines): Promise<string> {
  const idOf = new Map(tools.map(({ id, tool }) => [tool.id, id]));
  const engines: Engines = { exact: memoryEngine({ vectors: "float32" }), ...others };
  const rankings: Record<string, string[][]> = {};
  for (const [which, engine] of Object.entries(engines)) {
    await engine.open();
    await engine.put(tools.map(({ tool }) => tool));
    await using arsenal = arsenalOn(engine);
    await internalsOf(arsenal).settled({ tier: "static" });
    const found: string[][] = (rankings[which] = []);
    for (const { query } of requests) {
      const { tools: ranked } = await arsenal.retrieve({ context: { query }, limit: 10, refuse: "never" });
      found.push(ranked.map(({ tool }) => idOf.get(tool.id) ?? tool.id));
    }
  }
  const ndcg = (which: string): number =>
    (100 / requests.length) *
    requests.reduce((sum, { relevant }, at) => sum + figuresOf(rankings[which]?.[at] ?? [], relevant)["ndcg@10"], 0);
  const agreement = (which: string): string => {
    let [same, all] = [0, 0];
    rankings["exact"]?.forEach((exact, at) => {
      const best = new Set(rankings[which]?.[at]?.slice(0, 5));
      for (const id of exact.slice(0, 5)) same += best.has(id) ? 1 : 0;
      all += Math.min(5, exact.length);
    });
    return `${((100 * same) / all).toFixed(2)} % of the top 5`;
  };
  const difference = (which: string): string => `NDCG@10 ${(ndcg(which) - ndcg("exact")).toFixed(3)}`;
  const said = (which: string): string => `${agreement(which)}, ${difference(which)}`;
  const all = Object.keys(others).map((which) => `${which} ${said(which)}`);
  return `${name}, ${tools.length} tools, ${requests.length} requests, NDCG@10 ${ndcg("exact").toFixed(2)}: ${all.join("; ")}\n`;
}

async function measureRestarts(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "engines-"));
  try {
    const tasks = (["sqlite", "memory"] as const).map((engine) => ({ engine, file: join(folder, engine) }));
    for (const task of tasks) {
      await using arsenal = arsenalOn(engineOf(task));
      await arsenal.add(syntheticTools(count).map((tool) => ({ tool })));
      await internalsOf(arsenal).settled({ tier: "static" });
    }
    const best = new Map<string, Restarted>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const task of tasks) {
        const { stdout } = await promisify(execFile)(process.execPath, [
          fileURLToPath(import.meta.url),
          "--restart",
          JSON.stringify(task),
        ]);
        const now = JSON.parse(stdout) as Restarted;
        const before = best.get(task.engine) ?? now;
        best.set(task.engine, {
          firstMs: Math.min(before.firstMs, now.firstMs),
          firstCpuMs: Math.min(before.firstCpuMs, now.firstCpuMs),
          warmCpuMs: Math.min(before.warmCpuMs, now.warmCpuMs),
        });
      }
    }
    const [sqlite, memory] = [best.get("sqlite"), best.get("memory")];
    if (!sqlite || !memory) return "";
    const row = (what: string, key: keyof Restarted): readonly string[] => [
      what,
      sqlite[key].toFixed(1),
      memory[key].toFixed(1),
      (sqlite[key] / memory[key]).toFixed(2),
    ];
    return `${table([
      [`${count} tools, static tier`, "sqlite ms", "memory ms", "ratio"],
      row("first answer after a restart", "firstMs"),
      row("its processor time", "firstCpuMs"),
      row("processor time of a warm request", "warmCpuMs"),
    ])}\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function engineOf({ engine, file }: Restart): CatalogEngine {
  return engine === "sqlite" ? sqliteEngine({ file }) : memoryEngine({ snapshot: file });
}

async function restart(task: Restart): Promise<Restarted> {
  const started = performance.now();
  const startedCpu = process.cpuUsage();
  await using arsenal = arsenalOn(engineOf(task));
  const requests = shortRequests(2 * WARM_REQUESTS);
  await arsenal.retrieve({ context: { query: requests[0] ?? "" } });
  const firstMs = performance.now() - started;
  const firstCpu = process.cpuUsage(startedCpu);
  for (const query of requests.slice(0, WARM_REQUESTS)) await arsenal.retrieve({ context: { query } });
  const before = process.cpuUsage();
  for (const query of requests.slice(WARM_REQUESTS)) await arsenal.retrieve({ context: { query } });
  const { user, system } = process.cpuUsage(before);
  return {
    firstMs,
    firstCpuMs: (firstCpu.user + firstCpu.system) / 1_000,
    warmCpuMs: (user + system) / 1_000 / WARM_REQUESTS,
  };
}
