/**
 * The cost of a call on one, two and three replicas that share a state: calls a second, CPU time per call over all replicas, and latency, as ratios
 * to one replica in the same run. Clients, proxy and the MCP server share one process, whose own CPU time is printed too: on a machine with few
 * cores, that process limits the calls per second, and CPU time per call is the figure to size by. Linux only: it reads /proc.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { modernClient } from "../test/e2e/replicas/clients.ts";
import { type Fleet, startFleet } from "../test/e2e/replicas/fleet.ts";
import { STATES } from "../test/e2e/replicas/states.ts";

/** Clock ticks per second in /proc, on every Linux that Node supports. */
const TICKS = 100;

/** Calls that each replica serves before the measurement, so that uncompiled code does not count against more replicas. */
const WARM_CALLS = 3_000;

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "3000" },
    callers: { type: "string", default: "16" },
    replicas: { type: "string", default: "1,2,3" },
  },
});
const [calls, callers] = [Number(values.calls), Number(values.callers)];
const sizes = values.replicas.split(",").map(Number);

interface Measured {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly ownMs: number;
  readonly p50: number;
  readonly p95: number;
}

/** The CPU time of a process so far, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS;
}

/** Makes `count` calls through the proxy, and returns the duration of each, in milliseconds. */
async function call(fleet: Fleet, count: number): Promise<readonly number[]> {
  const client = modernClient({ url: fleet.proxy.url, key: fleet.keys.asker });
  const took: number[] = [];
  let next = 0;
  async function run(): Promise<void> {
    while (next < count) {
      const id = String(next++);
      const since = performance.now();
      const { failed } = await client.call("young-book", { id });
      if (failed !== undefined) throw new Error(failed);
      took.push(performance.now() - since);
    }
  }
  await Promise.all(Array.from({ length: callers }, run));
  return took.sort((one, other) => one - other);
}

async function measure(size: number, open: (typeof STATES)[number]["open"]): Promise<Measured> {
  const fleet = await startFleet(open, { size, settings: { audit: {} } });
  try {
    // Each replica compiles its hot code before the measurement, however many share the calls.
    await call(fleet, WARM_CALLS * size);
    const cpu = (): number => fleet.running().reduce((sum, { pid }) => sum + cpuOf(pid), 0);
    const [before, own, since] = [cpu(), cpuOf(process.pid), performance.now()];
    const took = await call(fleet, calls);
    const seconds = (performance.now() - since) / 1_000;
    const at = (share: number): number => took[Math.floor(share * took.length)] ?? 0;
    return {
      perSecond: calls / seconds,
      cpuMs: (cpu() - before) / calls,
      ownMs: (cpuOf(process.pid) - own) / calls,
      p50: at(0.5),
      p95: at(0.95),
    };
  } finally {
    await fleet.close();
  }
}

for (const { name, open } of STATES) {
  console.log(`\nReplicas on ${name}: ${calls} calls from ${callers} callers, MCP 2026-07-28, no audit log\n`);
  console.log(
    "| replicas | calls/s | CPU-ms per call, all replicas | P50 ms | P95 ms | CPU-ms per call of clients, proxy and server |",
  );
  console.log("|---|---|---|---|---|---|");
  let first: Measured | undefined;
  for (const size of sizes) {
    const measured = await measure(size, open);
    first ??= measured;
    const ratio = (key: keyof Measured, digits = 2): string =>
      `${measured[key].toFixed(digits)} (${(measured[key] / (first?.[key] ?? 1)).toFixed(2)}×)`;
    const row = [size, ratio("perSecond", 0), ratio("cpuMs"), ratio("p50"), ratio("p95"), measured.ownMs.toFixed(2)];
    console.log(`| ${row.join(" | ")} |`);
  }
}
