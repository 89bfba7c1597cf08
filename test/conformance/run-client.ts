/** Runs the client half of the official suites against the MCP source: all that a revision requires, and what more is supported. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { peerProgram, requirePeers } from "../peers/peers.ts";
import { judgeClient, type SuiteRun } from "./summary.ts";

/** A scenario that cannot pass, and why. */
interface Contradiction {
  readonly suite: string;
  readonly scenario: string;
  readonly reason: string;
}

interface Suite {
  readonly name: string;
  /** The suite's program. */
  readonly file: string;
  readonly scenarios: readonly string[];
  /** How many there must be, so that a list which could not be read is noticed. */
  readonly expected: number;
  readonly options: readonly string[];
}

const CONTRADICTIONS: readonly Contradiction[] = [
  {
    suite: "0.1.16",
    scenario: "auth/2025-03-26-oauth-metadata-backcompat",
    reason:
      "its metadata, found at the root, names the issuer /oauth, which RFC 8414 section 3.3 says must not be used",
  },
];

/** What no revision requires and is supported all the same. */
const EXTENSIONS = ["auth/client-credentials-basic", "auth/client-credentials-jwt"];
const CLIENT = fileURLToPath(new URL("client.ts", import.meta.url));
const AT_ONCE = 2;
/** A scenario takes seconds; one that hangs is stopped. */
const LONGEST_MS = 120_000;

/** Runs a program of a suite, and resolves with its exit code and all it printed. */
async function run(args: readonly string[]): Promise<SuiteRun> {
  // The suites leave their results in the working folder.
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-conformance-"));
  const child = spawn(process.execPath, args, { cwd: folder, timeout: LONGEST_MS });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once("close", resolve));
  rmSync(folder, { recursive: true, force: true });
  return { code, text };
}

async function suites(): Promise<readonly Suite[]> {
  const old = peerProgram("conformance-0.1", "conformance").file;
  const { text } = await run([old, "list", "--client"]);
  const scenarios = [...text.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm)].flatMap(([, name = "", tags]) =>
    tags === "extension" ? [] : [name],
  );
  const file = peerProgram("conformance-0.2", "conformance").file;
  return [
    {
      name: "0.1.16",
      file: old,
      scenarios: [...scenarios, ...EXTENSIONS, "auth/cross-app-access-complete-flow"],
      expected: 26,
      options: [],
    },
    ...[
      { revision: "2025-11-25", expected: 22 },
      { revision: "2026-07-28", expected: 36 },
    ].map(({ revision, expected }) => ({
      name: `0.2.0-alpha.12 ${revision}`,
      file,
      scenarios: [
        ...required(file, revision),
        "json-schema-2020-12-preservation",
        ...EXTENSIONS,
        "auth/enterprise-managed-authorization",
      ],
      expected,
      options: ["--spec-version", revision, "--force"],
    })),
  ];
}

/** What a revision requires of clients, as the suite's own list says. */
function required(file: string, revision: string): readonly string[] {
  const list = readFileSync(join(file, "../../requirements", `${revision}.yaml`), "utf8");
  return (parse(list) as { readonly client: readonly string[] }).client;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { scenario: { type: "string" }, verbose: { type: "boolean", default: false } },
  });
  requirePeers();
  let ran = 0;
  for (const suite of await suites()) {
    const waiting = suite.scenarios.filter((scenario) => scenario === (values.scenario ?? scenario));
    const total = values.scenario === undefined ? suite.expected : waiting.length;
    ran += waiting.length;
    if (suite.scenarios.length !== suite.expected) {
      process.exitCode = 1;
      process.stdout.write(
        `FAILED  ${suite.name}  lists ${suite.scenarios.length} client scenarios, expected ${suite.expected}\n`,
      );
    }
    let passed = 0;
    let known = 0;
    const work = async (): Promise<void> => {
      for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
        const ended = await run([
          suite.file,
          "client",
          "--command",
          `${process.execPath} ${CLIENT}`,
          "--scenario",
          scenario,
          ...suite.options,
        ]);
        const listed = CONTRADICTIONS.find((each) => each.suite === suite.name && each.scenario === scenario);
        const verdict = verdictOf(judgeClient(ended), listed);
        if (verdict === "ok") passed++;
        else if (verdict === "known") known++;
        else process.exitCode = 1;
        const reason = listed === undefined ? "" : `: ${listed.reason}`;
        process.stdout.write(`${verdict.padEnd(6)}  ${suite.name}  ${scenario}${reason}\n`);
        if (values.verbose || verdict === "FAILED") process.stdout.write(`${ended.text}\n`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const rest = known === 0 ? "" : `, ${known} known to contradict a standard`;
    process.stdout.write(`${suite.name}: ${passed} of ${total} client scenarios pass${rest}\n`);
  }
  if (ran === 0) {
    process.exitCode = 1;
    process.stdout.write(`FAILED  no suite has a scenario ${values.scenario ?? ""}\n`);
  }
}

/** A scenario that is listed as impossible and passes is no longer to be listed. */
function verdictOf(succeeded: boolean, listed: Contradiction | undefined): "ok" | "known" | "stale" | "FAILED" {
  if (listed !== undefined) return succeeded ? "stale" : "known";
  return succeeded ? "ok" : "FAILED";
}

await main();
