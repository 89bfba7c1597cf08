import { realpathSync } from "node:fs";
import { bubblewrapArguments } from "../adapters/sandboxes/bubblewrap/bubblewrap.ts";
import { wordingScanner } from "../adapters/scanners/wording/wording.ts";
import { mcpSource } from "../adapters/sources/mcp/mcp.ts";
import { readServer } from "../adapters/sources/mcp/read-settings.ts";
import type { McpServerSettings } from "../adapters/sources/mcp/settings.ts";
import type { Surroundings } from "../adapters/surroundings.ts";
import { readClientConfig } from "../config/clients/client-config.ts";
import { showProblem } from "../config/clients/server-problem.ts";
import { fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import { SANDBOX_LIMITS } from "../execute/sandbox.port.ts";
import { definitionOf, hashOf } from "../guard/pins/definition.ts";
import type { Severity } from "../guard/scan/finding.ts";
import { createScanner } from "../guard/scan/scanner.ts";
import { toRegistrations } from "../register/to-registrations.ts";
import { findProgram } from "../system/find-program.ts";
import type { FilledDraft } from "./install/draft.ts";

/** The result of a trial connection to a server. */
export interface ServerTrial {
  readonly server?: { readonly name: string; readonly version: string };
  readonly instructions?: string;
  readonly tools: readonly TriedTool[];
  readonly findings: readonly TrialFinding[];
  /** True if users must sign in to the server first. Its tools are then unknown. */
  readonly needsSignIn?: true;
  /** True if the server's program ran in the configured sandbox. */
  readonly confined: boolean;
}

export interface TriedTool {
  readonly name: string;
  readonly description: string;
  readonly hash: string;
}

/** A scanner finding in a server's texts. */
export interface TrialFinding {
  /** A tool's name, or `instructions`. */
  readonly subject: string;
  readonly severity: Severity;
  readonly message: string;
  readonly excerpt: string;
}

export interface TrialContext extends Pick<Surroundings, "clock" | "egress" | "secrets"> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of the configuration. */
  readonly folder: string;
  readonly envPassthrough?: readonly string[] | undefined;
  /** The configured sandbox, if any. */
  readonly sandbox?: string | undefined;
  /** Files and folders that the server can see in the sandbox. */
  readonly shown?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

const MEMORY = 1024 * 1024 * 1024;

/** Connects to a server, lists and scans its tools and instructions, and disconnects. Rejects with SOURCE_UNAVAILABLE. */
export async function tryServer(
  name: string,
  { entry, secrets }: FilledDraft,
  context: TrialContext,
): Promise<ServerTrial> {
  const { environment, folder, envPassthrough, clock, egress, signal = new AbortController().signal } = context;
  // Secrets are not in a file yet, so the entry refers to them as variables.
  const own = Object.fromEntries(Object.keys(secrets).map((variable) => [variable, `\${${variable}}`]));
  const isProgram = entry["command"] !== undefined;
  // The program is found on the PATH of the command's environment.
  const path = environment["PATH"] === undefined ? {} : { PATH: "${PATH}" };
  const full = isProgram ? { ...entry, env: { ...path, ...(entry["env"] as object | undefined), ...own } } : entry;
  const { servers, problems } = await readClientConfig(
    { mcpServers: { [name]: full } },
    { environment: { ...environment, ...secrets }, folder },
  );
  const [written] = servers;
  const settings = written === undefined ? undefined : readServer(written);
  if (settings === undefined || "message" in settings) {
    const [problem] = problems;
    const reason =
      settings !== undefined && "message" in settings
        ? `${settings.field} ${settings.message}`
        : problem && showProblem(problem);
    throw fixable("INPUT_INVALID", `The entry of ${name} cannot be used: ${reason}.`, "Check its inputs.", {
      field: "input",
    });
  }
  const confined = confine(name, settings, context);
  const source = mcpSource(confined ?? settings, { clock, egress, secrets: context.secrets, envPassthrough });
  try {
    await source.connect({ signal });
    const registrations = await toRegistrations(await source.list({ signal }), source, { now: 0 });
    const { state } = source.upstream;
    const described = state.kind === "connected" ? state.server : undefined;
    const scanner = createScanner({ mode: "flag", scanners: [wordingScanner()] });
    const instructions = source.instructions?.();
    const reports = [
      ...registrations.map(({ tool }) => ({ subject: tool.name, report: scanner.scanTool(tool) })),
      ...(instructions ? [{ subject: "instructions", report: scanner.scanText(instructions, "definition") }] : []),
    ];
    return {
      ...(described && {
        server: { name: String(described.info["name"]), version: String(described.info["version"]) },
      }),
      ...(instructions && { instructions }),
      tools: registrations.map(({ tool }) => ({
        name: tool.name,
        description: tool.description,
        hash: hashOf(definitionOf(tool)),
      })),
      findings: reports.flatMap(({ subject, report }) =>
        report.findings.map(({ severity, message, excerpt }) => ({ subject, severity, message, excerpt })),
      ),
      confined: confined !== undefined,
    };
  } catch (error) {
    if (signal.aborted) throw error;
    if (isArsenalError(error) && error.details.fix?.startsWith("Run: toolarsenal login") === true)
      return { tools: [], findings: [], needsSignIn: true, confined: false };
    const problem = `${name} could not be connected: ${messageOf(error).replace(/\.$/, "")}. Nothing was written.`;
    throw fixable("SOURCE_UNAVAILABLE", problem, "Check its inputs and retry.", {
      field: "server",
      value: name,
      cause: error,
    });
  } finally {
    await source.disconnect();
  }
}

/**
 * Runs the same server in bubblewrap, if that is the configured sandbox: the server sees programs, its own files and the network, and cannot write.
 * Throws SANDBOX_FAILED if the sandbox cannot confine a server; no code of the server has run then.
 */
function confine(
  name: string,
  settings: McpServerSettings,
  { sandbox, shown = [], environment }: TrialContext,
): McpServerSettings | undefined {
  const { transport } = settings;
  // A container is already confined.
  if (sandbox === undefined || transport.kind !== "stdio" || transport.command === "docker") return undefined;
  if (sandbox !== "bubblewrap") {
    const problem = `The configured sandbox, ${showValue(sandbox)}, cannot confine a server, so ${name} was not run. Nothing was written.`;
    const fix =
      "Set execution.sandbox_type to bubblewrap, choose another package with --kind oci or --kind remote, or connect without a sandbox with --no-sandbox.";
    throw fixable("SANDBOX_FAILED", problem, fix, { field: "execution.sandbox_type", value: sandbox });
  }
  const path = findProgram(transport.command, environment["PATH"] ?? "");
  if (path === undefined) return undefined;
  const command = findProgram("bwrap", environment["PATH"] ?? "");
  if (command === undefined) {
    const problem = `The configured sandbox, "bubblewrap", is not installed, so ${name} was not run. Nothing was written.`;
    throw fixable("SANDBOX_FAILED", problem, "Install bubblewrap, or connect without a sandbox with --no-sandbox.", {
      field: "execution.sandbox_type",
      value: sandbox,
    });
  }
  const program = realpathSync(path);
  const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];
  const job = { read: shown, network: true, limits: { ...SANDBOX_LIMITS, memoryBytes: MEMORY } };
  const isSystem = system.some((folder) => program.startsWith(`${folder}/`));
  const seen = bubblewrapArguments(job, isSystem ? system : [...system, program]).slice(0, -1);
  const { cwd = "/tmp", args = [], ...rest } = transport;
  return { ...settings, transport: { ...rest, command, args: [...seen, "--chdir", cwd, "--", program, ...args] } };
}
