/** The cost of hostile MCP servers for the others: the same calls to harmless servers with and without them on one gateway. See bench/README.md. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { processTimeMs } from "./gateway/process-time.ts";
import { type GatewayProcess, startGateway } from "../test/e2e/gateway-process.ts";
import { type HostileProcess, startHostileProcess } from "../test/e2e/hostile-process.ts";
import { HOSTILITIES } from "../test/e2e/hostile-servers.ts";

const HARMLESS = ["harmless_a", "harmless_b", "harmless_c", "harmless_d"];
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Calls a tool once. Resolves with the text of the response. */
function call(url: string, agent: Agent, name: string, progressToken?: string): Promise<string> {
  const _meta = progressToken === undefined ? META : { ...META, progressToken };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {}, _meta } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/mcp`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text = (text + part).slice(-1000)));
      response.on("end", () => resolve(text)).on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

/** Calls the harmless servers in turn, with `connections` concurrent calls, and returns the duration of each call, in milliseconds. */
async function load(url: string, calls: number, connections: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < calls) {
      const name = `${HARMLESS[next++ % HARMLESS.length]}-work`;
      const began = performance.now();
      const answer = await call(url, agent, name);
      if (!answer.includes('"done"')) throw new Error(`${name} was answered with ${answer}`);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return times;
}

/** Keeps calling every hostile server until the signal fires: five callers each, five seconds after each answer. */
function harass(url: string, signal: AbortSignal): void {
  const agent = new Agent({ keepAlive: true });
  signal.addEventListener("abort", () => agent.destroy());
  const keepCalling = async (name: string, caller: number): Promise<void> => {
    while (!signal.aborted) {
      await call(url, agent, name, `caller ${caller}`).catch(() => {});
      await pause(5000, undefined, { signal }).catch(() => {});
    }
  };
  // One of them never lists its tool.
  for (const hostility of HOSTILITIES.filter((each) => each !== "forgets_sessions"))
    for (let caller = 0; caller < 5; caller++)
      void keepCalling(hostility === "hundred_thousand_tools" ? `${hostility}-work_7` : `${hostility}-work`, caller);
}

interface Arm {
  readonly times: readonly number[];
  /** Processor time of the gateway, and the elapsed time. */
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly peakMb: number;
}

function peakMb({ pid }: GatewayProcess): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

async function measure(
  hostile: readonly string[],
  harmless: HostileProcess,
  options: { readonly calls: number; readonly connections: number; readonly program: string | undefined },
): Promise<Arm> {
  const others = await startHostileProcess(hostile);
  const urls = { ...harmless.urls, ...others.urls };
  const gateway = await startGateway({
    servers: Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { type: "http" as const, url }])),
    mode: "static",
    tier: "static",
    settings: { security: { max_requests_per_minute: 1_000_000, require_confirmation: [] } },
    ...(options.program === undefined ? {} : { program: options.program }),
  });
  const stop = new AbortController();
  try {
    if (hostile.length > 0) harass(gateway.url, stop.signal);
    await load(gateway.url, 1000, options.connections);
    const [cpu, began] = [processTimeMs(gateway.pid), performance.now()];
    const times = await load(gateway.url, options.calls, options.connections);
    const cpuMs = processTimeMs(gateway.pid) - cpu;
    return { times, cpuMs, wallMs: performance.now() - began, peakMb: peakMb(gateway) };
  } finally {
    stop.abort();
    await gateway.close();
    await others.close();
  }
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      calls: { type: "string", default: "20000" },
      connections: { type: "string", default: "16" },
      program: { type: "string" },
    },
  });
  const calls = Number(values.calls);
  const options = { connections: Number(values.connections), program: values.program };
  const show = (): string =>
    loadavg()
      .map((value) => value.toFixed(1))
      .join(" ");
  console.log(`load average at the start: ${show()}`);
  const harmless = await startHostileProcess(HARMLESS);
  try {
    // Half of the baseline before and half after, so that increasing load on the machine favours neither.
    const before = await measure([], harmless, { ...options, calls: calls / 2 });
    const during = await measure(HOSTILITIES, harmless, { ...options, calls });
    const after = await measure([], harmless, { ...options, calls: calls / 2 });
    const without: Arm = {
      times: [...before.times, ...after.times],
      cpuMs: before.cpuMs + after.cpuMs,
      wallMs: before.wallMs + after.wallMs,
      peakMb: Math.max(before.peakMb, after.peakMb),
    };
    const row = (name: string, { times, cpuMs, wallMs, peakMb: peak }: Arm): void =>
      console.log(
        [
          name.padEnd(24),
          `${times.length} calls`,
          `p50 ${quantile(times, 0.5).toFixed(2)} ms`,
          `p99 ${quantile(times, 0.99).toFixed(2)} ms`,
          `p99.9 ${quantile(times, 0.999).toFixed(2)} ms`,
          `${(cpuMs / times.length).toFixed(2)} ms CPU a call`,
          `${((100 * cpuMs) / wallMs).toFixed(0)} % of a core`,
          `peak memory ${peak.toFixed(0)} MB`,
        ].join("  "),
      );
    row("without hostile servers", without);
    row(`with ${HOSTILITIES.length} hostile servers`, during);
    const ratio = (share: number): string =>
      (quantile(during.times, share) / quantile(without.times, share)).toFixed(2);
    console.log(`ratio: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}; memory ${(during.peakMb / without.peakMb).toFixed(2)}`);
    const [one, other] = [quantile(before.times, 0.99), quantile(after.times, 0.99)];
    console.log(`the baseline against itself: p99 ${(Math.max(one, other) / Math.min(one, other)).toFixed(2)}`);
    console.log(`load average at the end: ${show()}`);
  } finally {
    await harmless.close();
  }
}

await main();
