/** Runs the server half of the official suites against one upstream that the gateway passes on untouched. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startGateway } from "../e2e/gateway-process.ts";
import { peerProgram, PEERS_ABSENT, peersInstalled } from "../peers/peers.ts";
import { serveFixture } from "./fixture-server.ts";

interface Suite {
  readonly name: string;
  readonly peer: string;
  readonly options: readonly string[];
  /** How many must pass at least: checks in 0.1, where some come only with a stream; scenarios in 0.2. */
  readonly required: number;
}

const SUITES: readonly Suite[] = [
  { name: "0.1.16 --suite all", peer: "conformance-0.1", options: ["--suite", "all"], required: 44 },
  ...[
    { revision: "2025-11-25", required: 30 },
    { revision: "2026-07-28", required: 37 },
  ].map(({ revision, required }) => ({
    name: `0.2.0-alpha.12 --requirements ${revision}`,
    peer: "conformance-0.2",
    options: ["--requirements", revision],
    required,
  })),
];

/** What a suite found. */
interface Outcome {
  readonly passed: number;
  readonly required: number;
  /** Scenarios that count and failed, as the suite names them. */
  readonly failures: readonly string[];
}

/** Runs a suite and resolves with all it printed. */
async function run({ peer, options }: Suite, url: string, folder: string): Promise<string> {
  const { file } = peerProgram(peer, "conformance");
  const child = spawn(process.execPath, [file, "server", "--url", url, ...options], { cwd: folder });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (text += part.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}

/** Reads the summary at the end of what a suite prints. */
export function outcomeOf(text: string, { required }: Pick<Suite, "required">): Outcome {
  const [, summary = ""] = text.split("=== SUMMARY ===");
  const unscored = new Set(
    [...(summary.split("Not scored")[1] ?? "").matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name),
  );
  const scenarios = [...summary.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed/gm)]
    .map(([, mark, name = "", passed, failed]) => ({ mark, name, passed: Number(passed), failed: Number(failed) }))
    .filter(({ name }) => !unscored.has(name));
  const failures = scenarios
    .filter(({ mark, failed }) => mark === "✗" || failed > 0)
    .map(({ name, failed, passed }) => `${name}: ${failed} of ${passed + failed} failed`);
  // 0.1 counts single checks, 0.2 counts scenarios.
  const passed = text.includes("Not scored for")
    ? scenarios.length - failures.length
    : scenarios.reduce((sum, scenario) => sum + scenario.passed, 0);
  return { passed, required, failures };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { direct: { type: "boolean", default: false }, verbose: { type: "boolean", default: false } },
  });
  if (!peersInstalled()) {
    process.stdout.write(`skipped: ${PEERS_ABSENT}\n`);
    return;
  }
  const fixture = await serveFixture();
  const gateway = values.direct
    ? undefined
    : await startGateway({
        tier: "lexical",
        servers: { fixture: { type: "http", url: fixture.url } },
        settings: { security: { max_requests_per_minute: 1_000_000 } },
      });
  const url = gateway === undefined ? fixture.url : `${gateway.url}/mcp/upstreams/fixture`;
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-conformance-"));
  try {
    for (const suite of SUITES) {
      const text = await run(suite, url, folder);
      const { passed, required, failures } = outcomeOf(text, suite);
      const met = passed >= required && failures.length === 0;
      if (!met) process.exitCode = 1;
      process.stdout.write(`${met ? "ok    " : "FAILED"}  ${suite.name}: ${passed} passed, ${required} required\n`);
      for (const failure of failures) process.stdout.write(`          ${failure}\n`);
      if (values.verbose || passed === 0) process.stdout.write(`${text}\n`);
    }
  } finally {
    await gateway?.close();
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
