/** Runs the server half of the official suites against one upstream that the gateway passes on untouched. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startGateway } from "../e2e/gateway-process.ts";
import { peerProgram, requirePeers } from "../peers/peers.ts";
import { freePort } from "../services/redis.ts";
import { serveFixture } from "./fixture-server.ts";
import { judgeServer, type SuiteRun } from "./summary.ts";

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

/** A suite takes seconds; one that hangs is ended. */
const LONGEST_MS = 180_000;

/** Runs a suite. */
async function run({ peer, options }: Suite, url: string, folder: string): Promise<SuiteRun> {
  const { file } = peerProgram(peer, "conformance");
  const child = spawn(process.execPath, [file, "server", "--url", url, ...options], {
    cwd: folder,
    timeout: LONGEST_MS,
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once("close", resolve));
  return { code, text };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { direct: { type: "boolean", default: false }, verbose: { type: "boolean", default: false } },
  });
  requirePeers();
  const fixture = await serveFixture();
  const port = await freePort();
  const gateway = values.direct
    ? undefined
    : await startGateway({
        tier: "lexical",
        port,
        servers: { fixture: { type: "http", url: fixture.url } },
        settings: {
          security: { max_requests_per_minute: 1_000_000 },
          // The suites send the server's own Origin, as a page of the gateway would, which then needs the page token.
          server: { allowed_origins: ["localhost", "127.0.0.1"].map((host) => `http://${host}:${port}`) },
        },
      });
  const url = gateway === undefined ? fixture.url : `${gateway.url}/mcp/upstreams/fixture`;
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-conformance-"));
  try {
    for (const suite of SUITES) {
      const ran = await run(suite, url, folder);
      const { passed, problems } = judgeServer(ran, suite.required);
      const met = problems.length === 0;
      if (!met) process.exitCode = 1;
      process.stdout.write(
        `${met ? "ok    " : "FAILED"}  ${suite.name}: ${passed} passed, ${suite.required} required\n`,
      );
      for (const problem of problems) process.stdout.write(`          ${problem}\n`);
      if (values.verbose || passed === 0) process.stdout.write(`${ran.text}\n`);
    }
  } finally {
    await gateway?.close();
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
