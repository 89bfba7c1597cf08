/** Runs the scenarios of the official suite for extensions against servers that the gateway passes on, at both of its addresses. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startGateway } from "../e2e/gateway-process.ts";
import { startSkillServer } from "../mcp/skill-server.ts";
import { startTaskServer } from "../mcp/task-server.ts";
import { peerProgram, requirePeers } from "../peers/peers.ts";

interface Extension {
  readonly name: string;
  readonly scenarios: readonly string[];
  start(): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const EXTENSIONS: readonly Extension[] = [
  {
    name: "tasks",
    scenarios: [
      "tasks-lifecycle",
      "tasks-capability-negotiation",
      "tasks-wire-fields",
      "tasks-request-state-removal",
      "tasks-mrtr-input",
      "tasks-request-headers",
      "tasks-dispatch-and-envelope",
      "tasks-required-task-error",
      "tasks-mrtr-composition",
    ],
    start: startTaskServer,
  },
  {
    name: "skills",
    scenarios: ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"],
    start: startSkillServer,
  },
];

const LONGEST_MS = 180_000;

async function run(url: string, scenario: string): Promise<{ readonly code: number | null; readonly text: string }> {
  const { file } = peerProgram("conformance-0.2", "conformance");
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-conformance-"));
  const args = [file, "server", "--url", url, "--scenario", scenario, "--spec-version", "2026-07-28", "--force"];
  const child = spawn(process.execPath, args, { cwd: folder, timeout: LONGEST_MS });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once("close", resolve));
  rmSync(folder, { recursive: true, force: true });
  return { code, text };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      scenario: { type: "string" },
      verbose: { type: "boolean", default: false },
      direct: { type: "boolean" },
    },
  });
  requirePeers();
  for (const extension of EXTENSIONS) {
    const server = await extension.start();
    const gateway = await startGateway({
      tier: "lexical",
      servers: { fixture: { type: "http", url: server.url } },
      settings: { security: { max_requests_per_minute: 1_000_000 } },
    });
    try {
      const paths = ["/mcp/upstreams/fixture", ...(extension.name === "skills" ? ["/mcp"] : [])];
      for (const path of values.direct === true ? [""] : paths) {
        const url = path === "" ? server.url : gateway.url + path;
        let passed = 0;
        const scenarios = extension.scenarios.filter((name) => name === (values.scenario ?? name));
        for (const scenario of scenarios) {
          const { code, text } = await run(url, scenario);
          if (code === 0) passed++;
          else process.exitCode = 1;
          process.stdout.write(`${code === 0 ? "ok    " : "FAILED"}  ${extension.name}  ${path}  ${scenario}\n`);
          if (values.verbose || code !== 0) process.stdout.write(`${text}\n`);
        }
        process.stdout.write(`${extension.name} at ${path}: ${passed} of ${scenarios.length} scenarios pass\n`);
      }
    } finally {
      await gateway.close();
      await server.close();
    }
  }
}

if (import.meta.main) await main();
