/** Calls a tool through the gateway at a steady rate for a long time and reports whether its memory or its descriptors grow. */
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openWireClient, type WireClient } from "../bench/gateway/wire-client.ts";
import { type GatewayProcess, startGateway } from "../test/e2e/gateway-process.ts";
import { openDescriptors } from "../test/e2e/open-descriptors.ts";

const HELP = `node scripts/soak-gateway.ts [--minutes 30] [--rate 50]

Calls an echo tool through both planes and both eras, and prints what the gateway's heap holds after a collection, its resident memory
and its open descriptors once a minute, with the slopes over the second half.
`;

const REPORT_HEAP = new URL("./report-heap.ts", import.meta.url).href;
const ECHO = fileURLToPath(new URL("../bench/gateway/echo-server.ts", import.meta.url));

interface Sample {
  readonly minute: number;
  readonly heapMb: number;
  readonly residentMb: number;
  readonly descriptors: number;
}

/** Anonymous memory of a process, in megabytes: its heap and buffers, without mapped files. */
function residentMb(pid: number): number {
  const [, kilobytes = "0"] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

/** The gateway's heap after a collection, in megabytes. */
async function heapMb({ pid, log }: GatewayProcess): Promise<number> {
  const before = log().length;
  process.kill(pid, "SIGUSR2");
  for (;;) {
    const [, bytes] = /^heap (\d+)$/m.exec(log().slice(before)) ?? [];
    if (bytes !== undefined) return Number(bytes) / 2 ** 20;
    await pause(10);
  }
}

/** Least squares of a value over time, per minute. */
function slope(samples: readonly Sample[], key: "heapMb" | "residentMb" | "descriptors"): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [time, value] = [mean(({ minute }) => minute), mean((sample) => sample[key])];
  const over = samples.reduce((sum, sample) => sum + (sample.minute - time) * (sample[key] - value), 0);
  return over / samples.reduce((sum, { minute }) => sum + (minute - time) ** 2, 0);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "30" },
      rate: { type: "string", default: "50" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    console.log(HELP);
    return;
  }
  const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
  const gateway = await startGateway({
    tier: "lexical",
    nodeOptions: ["--expose-gc", "--import", REPORT_HEAP],
    mode: "static",
    servers: { echo: { command: process.execPath, args: [ECHO, "stdio"] } },
    settings: { security: { max_requests_per_minute: 1_000_000 }, execution: { max_concurrent: 1000 } },
  });
  const agent = new Agent({ keepAlive: true });
  const open = async (kind: "legacy" | "modern", path: string): Promise<{ client: WireClient; name: string }> => {
    const client = await openWireClient(kind, gateway.url + path, agent);
    const [, name = ""] = /"name":"([^"]*echo)"/.exec(await client.request("tools/list", {})) ?? [];
    return { client, name };
  };
  const clients = [
    await open("legacy", "/mcp"),
    await open("modern", "/mcp"),
    await open("legacy", "/mcp/upstreams/echo"),
    await open("modern", "/mcp/upstreams/echo"),
  ];
  const samples: Sample[] = [];
  let failed = 0;
  let firstFailure = "";
  async function sample(minute: number): Promise<void> {
    const heap = await heapMb(gateway);
    const taken = {
      minute,
      heapMb: heap,
      residentMb: residentMb(gateway.pid),
      descriptors: openDescriptors(gateway.pid),
    };
    samples.push(taken);
    const memory = `heap ${heap.toFixed(1)} MB, resident ${taken.residentMb.toFixed(1)} MB`;
    console.log(`${minute.toFixed(1).padStart(5)} min  ${memory}, ${taken.descriptors} open`);
  }
  async function check(client: WireClient, name: string, message: string): Promise<void> {
    const answer = await client.request("tools/call", { name, arguments: { message } }, name).catch(String);
    if (answer.includes(`Echo: ${message}`)) return;
    failed += 1;
    firstFailure ||= answer;
  }
  const started = performance.now();
  let calls = 0;
  try {
    const total = Math.round(minutes * 60 * rate);
    const every = Math.max(1, Math.round(Math.min(60, (minutes * 60) / 10) * rate));
    while (calls < total) {
      const due = started + (calls * 1000) / rate;
      const wait = due - performance.now();
      if (wait > 0) await pause(wait);
      if (calls % every === 0) await sample((performance.now() - started) / 60_000);
      const { client, name } = clients[calls % clients.length] ?? { client: undefined, name: "" };
      const message = `call ${(calls += 1)}.`;
      if (client !== undefined) void check(client, name, message);
    }
    await pause(1000);
    await sample((performance.now() - started) / 60_000);
  } finally {
    agent.destroy();
    await gateway.close();
  }
  const half = samples.slice(Math.floor(samples.length / 2));
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${calls} calls at ${(calls / seconds).toFixed(1)} a second, ${failed} failed ${firstFailure.slice(0, 300)}`,
  );
  const slopes = (["heapMb", "residentMb", "descriptors"] as const).map(
    (key) => `${key} ${slope(half, key).toFixed(3)}`,
  );
  console.log(`slopes over the second half, a minute: ${slopes.join(", ")}`);
  if (failed > 0) process.exitCode = 1;
}

await main();
