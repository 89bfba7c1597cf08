/** The cost of a gateway: the same echo tool called directly, through this gateway and through two others. See bench/README.md. */
import { fork } from "node:child_process";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Contender, startContenders } from "./gateway/contenders.ts";
import type { LoadAnswer, LoadTask } from "./gateway/load.ts";
import { processTimeMs } from "./gateway/process-time.ts";

const LOAD = fileURLToPath(new URL("./gateway/load.ts", import.meta.url));

/** One round of one contender. */
interface Round {
  readonly callsPerSecond: number;
  readonly cpuMsPerCall: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs the load in its own process and measures the contender's processor time. */
async function measure(contender: Contender, task: LoadTask): Promise<Round> {
  const child = fork(LOAD, [JSON.stringify(task)], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  let before = 0;
  let after = 0;
  let out = "";
  let err = "";
  child.once("message", () => (before = processTimeMs(contender.pid)));
  child.stderr?.on("data", (part: Buffer) => (err += part.toString()));
  child.stdout?.on("data", (part: Buffer) => {
    if (out === "") after = processTimeMs(contender.pid);
    out += part.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  if (out === "")
    throw new Error(`${contender.name} (${contender.upstream}, ${contender.client}): ${err.slice(0, 1500)}`);
  const { calls, seconds, p50Ms, p99Ms } = JSON.parse(out) as LoadAnswer;
  return { callsPerSecond: calls / seconds, cpuMsPerCall: (after - before) / calls, p50Ms, p99Ms };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function medians(rounds: readonly Round[]): Round {
  const of = (key: keyof Round): number => median(rounds.map((round) => round[key]));
  return {
    callsPerSecond: of("callsPerSecond"),
    cpuMsPerCall: of("cpuMsPerCall"),
    p50Ms: of("p50Ms"),
    p99Ms: of("p99Ms"),
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      connections: { type: "string", default: "32" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "3" },
      only: { type: "string", default: "" },
      built: { type: "boolean", default: false },
      before: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const entry = values.built ? "dist/cli/main.js" : "src/cli/main.ts";
  const contenders = await startContenders({
    ours: fileURLToPath(new URL(`../${entry}`, import.meta.url)),
    ...(values.before === undefined ? {} : { before: join(values.before, entry) }),
  });
  const results = new Map<Contender, Round[]>();
  try {
    const chosen = contenders.list.filter(({ name }) => name === "direct" || new RegExp(values.only).test(name));
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const contender of chosen) {
        const { url, client } = contender;
        const measureMs = Number(values.seconds) * 1000;
        const task = { url, client, connections: Number(values.connections), warmUpMs: measureMs / 3, measureMs };
        const rounds = results.get(contender) ?? [];
        results.set(contender, [...rounds, await measure(contender, task)]);
        process.stderr.write(".");
      }
    }
    process.stderr.write("\n");
  } finally {
    await contenders.close();
  }
  const rows = [...results].map(([contender, rounds]) => ({ contender, ...medians(rounds) }));
  if (values.json) {
    console.log(
      JSON.stringify(
        rows.map(({ contender: { name, upstream, client }, ...round }) => ({ name, upstream, client, ...round })),
      ),
    );
    return;
  }
  console.log(
    `node ${process.version}, ${cpus().length} cores, ${values.connections} kept-alive connections in one session, ` +
      `medians of ${values.rounds} rounds of ${values.seconds} s, taken in turns\n`,
  );
  for (const command of contenders.commands) console.log(`  ${command}`);
  console.log("\n| | upstream | client | calls/s | of direct | CPU ms a call | of direct | P50 ms | P99 ms |");
  console.log("|---|---|---|--:|--:|--:|--:|--:|--:|");
  for (const { contender, ...row } of rows) {
    // The server itself is not served over HTTP+SSE.
    const baseline = contender.client === "sse" ? "legacy" : contender.client;
    const direct = rows.find((other) => other.contender.name === "direct" && other.contender.client === baseline);
    const ratio = (key: "callsPerSecond" | "cpuMsPerCall"): string =>
      (row[key] / (direct?.[key] ?? Number.NaN)).toFixed(2);
    const cells = [
      contender.name,
      contender.upstream,
      contender.client,
      row.callsPerSecond.toFixed(0),
      ratio("callsPerSecond"),
      row.cpuMsPerCall.toFixed(3),
      ratio("cpuMsPerCall"),
      row.p50Ms.toFixed(1),
      row.p99Ms.toFixed(1),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

await main();
