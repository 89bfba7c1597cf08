import type { ToolArsenal } from "../../arsenal.ts";
import type { SourceReport } from "../../config/start/start-configured.ts";
import type { Configured } from "../arsenal/open-arsenal.ts";
import type { Terminal } from "../command.ts";
import { checkAudit } from "./audit.ts";
import {
  checkFolders,
  checkHealth,
  checkMemory,
  checkPolicy,
  checkRoots,
  checkTools,
  checkToolsets,
} from "./catalog.ts";
import { type Finding, findingsOf } from "./finding.ts";
import {
  checkEgress,
  checkIdentity,
  checkListening,
  checkParts,
  checkPermissions,
  checkRoute,
  checkTls,
  type GatewayPlan,
} from "./gateway.ts";
import { checkSecrets, checkServers, checkSources } from "./sources.ts";

/** One check. `doctor` runs all of them, and fails if one fails. */
interface Check<Subject> {
  readonly name: string;
  /**
   * How `serve` uses the check. `stops`: does not start if the check fails. `warns`: prints the findings. `skips`: only `doctor` runs the check,
   * because it takes long or `serve` reports the problem in another way.
   */
  readonly serve: "stops" | "warns" | "skips";
  run(subject: Subject): readonly Finding[] | Promise<readonly Finding[]>;
}

/** An arsenal after its configured sources were tried. */
export interface StartedGateway {
  readonly arsenal: ToolArsenal;
  readonly configured: Configured;
  readonly terminal: Terminal;
  readonly reports: readonly SourceReport[];
  /** True if the checks may write, as in `doctor`. */
  readonly writes: boolean;
}

/** The checks before a gateway starts, in order. */
const BEFORE_START: readonly Check<GatewayPlan>[] = [
  { name: "configuration", serve: "stops", run: checkEgress },
  { name: "network", serve: "stops", run: checkRoute },
  { name: "adapters", serve: "skips", run: checkParts },
  { name: "identity", serve: "stops", run: checkIdentity },
  { name: "tls", serve: "stops", run: checkTls },
  { name: "server", serve: "stops", run: checkListening },
  { name: "permissions", serve: "warns", run: checkPermissions },
];

/** The checks after a gateway's sources were tried, in order. */
const AFTER_START: readonly Check<StartedGateway>[] = [
  { name: "servers", serve: "skips", run: async (gateway) => (await checkServers(gateway)).map(ofSource) },
  { name: "sources", serve: "warns", run: (gateway) => checkSources(gateway).map(ofSource) },
  { name: "secrets", serve: "skips", run: checkSecrets },
  { name: "health", serve: "skips", run: checkHealth },
  { name: "audit", serve: "warns", run: checkAudit },
  { name: "state", serve: "skips", run: checkMemory },
  { name: "files", serve: "warns", run: checkRoots },
  { name: "own files", serve: "skips", run: checkFolders },
  { name: "tools", serve: "skips", run: checkTools },
  { name: "toolsets", serve: "warns", run: checkToolsets },
  { name: "policy", serve: "warns", run: checkPolicy },
];

function ofSource(finding: Finding): Finding {
  return { ...finding, source: true };
}

async function runAll<Subject>(checks: readonly Check<Subject>[], subject: Subject): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const { name, run } of checks) found.push(...(await findingsOf(name, () => run(subject))));
  return found;
}

/** Returns the findings of `doctor` before the arsenal starts. */
export function diagnosePlan(plan: GatewayPlan): Promise<readonly Finding[]> {
  return runAll(BEFORE_START, plan);
}

/** Returns the findings of `doctor` about a started arsenal. */
export function diagnoseStarted(gateway: Omit<StartedGateway, "writes">): Promise<readonly Finding[]> {
  return runAll(AFTER_START, { ...gateway, writes: true });
}

/** Throws the first error that prevents a gateway from starting. Returns the warnings for `serve`. */
export async function stopAtErrors(plan: GatewayPlan): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const check of BEFORE_START) {
    if (check.serve === "skips") continue;
    const findings = await findingsOf(check.name, () => check.run(plan));
    const stopping = findings.find(({ error }) => error !== undefined && check.serve === "stops");
    if (stopping !== undefined) throw stopping.error;
    found.push(...findings);
  }
  return found.filter(isProblem);
}

/** Returns the warnings for `serve` after the sources were tried. Events and the status of sources report their own errors. */
export async function problemsOf(gateway: Omit<StartedGateway, "writes">): Promise<readonly Finding[]> {
  const checks = AFTER_START.filter(({ serve }) => serve === "warns");
  const found = await runAll(checks, { ...gateway, writes: false });
  const failedSources = new Set(gateway.reports.filter(({ error }) => error !== undefined).map(({ name }) => name));
  return found.filter(
    (finding) => isProblem(finding) && finding.reported === undefined && !failedSources.has(finding.check),
  );
}

function isProblem({ state }: Finding): boolean {
  return state !== "ok";
}
