import { internalsOf } from "../../arsenal.ts";
import { boot } from "../../config/start/boot.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { eventText } from "../../observe/event-text.ts";
import type { EventName } from "../../observe/events.ts";
import { isAtLeast } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import { forOperator } from "../arsenal/local-approvals.ts";
import {
  type ConfigFiles,
  configFiles,
  type Configured,
  createConfiguredArsenal,
  loadConfigured,
  MCP_CONFIG,
  waiting,
} from "../arsenal/open-arsenal.ts";
import { sourcesTried } from "../arsenal/sources-tried.ts";
import { diagnosePlan, diagnoseStarted } from "../checks/checks.ts";
import { failed, failures, type Finding, ok, warning } from "../checks/finding.ts";
import { planGateway } from "../checks/gateway.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { MINIMUM_NODE, nodeProblem } from "../../system/node-version.ts";
import { styles } from "../terminal/style.ts";

export const command: Command = {
  options: {
    running: {
      description: "Do not check that the gateway's ports are free, because it runs already or serves only stdio",
    },
    ...MCP_CONFIG,
  },
  examples: ["doctor", "doctor --config config.prod.yaml", "doctor --mcp-config ~/.cursor/mcp.json"],
  async run(input, terminal) {
    const files = configFiles(input, terminal);
    const found = [checkNode(), ...(await checkConfiguration(files, input, terminal))];
    const findings = found.filter((finding) => !isRepeated(finding, found));
    print(findings, input, terminal);
    return findings.some(({ state }) => state === "failed") ? 1 : 0;
  },
};

function checkNode(): Finding {
  const { node } = process.versions;
  if (nodeProblem(node) === undefined) return ok("node", `Node ${node}`);
  return failed("node", `Node ${node} is too old`, `Install Node ${MINIMUM_NODE} or newer.`);
}

/**
 * Returns true for an error that an earlier finding reports, unless both are about sources, because two sources can fail for the same reason. Also
 * returns true for a general finding if another finding covers the same part.
 */
function isRepeated(finding: Finding, all: readonly Finding[]): boolean {
  const { general, check, state, message, source } = finding;
  const isSame = (other: Finding): boolean =>
    other.message === message && !(source === true && other.source === true && other.check !== check);
  if (state === "failed" && all.find(isSame) !== finding) return true;
  const says = (other: Finding): boolean => state === "ok" || other.state === "failed";
  return general === true && all.some((other) => other.general !== true && other.check === check && says(other));
}

/** The gateway that is being checked may itself use the busy port. */
function withPortFix(finding: Finding): Finding {
  const { field = "" } = isArsenalError(finding.error) ? finding.error.details : {};
  if (!PORTS.has(field)) return finding;
  const setting = field === "port" ? "server.port" : field;
  const running = "If it is this gateway, check with: toolarsenal doctor --running";
  return { ...finding, fix: `Stop that program, or set ${setting} to another port. ${running}` };
}

const PORTS: ReadonlySet<string> = new Set(["port", "a2a.a2a_port", "telemetry.prometheus_port"]);

async function checkConfiguration(files: ConfigFiles, input: Input, terminal: Terminal): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let configured: Configured;
  try {
    configured = await loadConfigured(files, terminal);
  } catch (error) {
    return failures("configuration", error);
  }
  const isDemo = files.paths.length === 0;
  const fix = "Create one with `toolarsenal setup` or `toolarsenal init`, or pass --config FILE.";
  findings.push(
    isDemo
      ? warning("configuration", "no arsenal.yaml here; every default applies", fix)
      : ok("configuration", files.paths.join(", ")),
  );
  const needsPorts = !input.flags.has("running");
  findings.push(...(await diagnosePlan(planGateway(configured, terminal, { needsPorts }))).map(withPortFix));
  for (const { server, field, message, fix: how } of configured.problems)
    findings.push(failed(server, `${field} ${message}`, how));
  for (const { server, message } of configured.notes) findings.push(warning(server, message));
  return isDemo ? findings : [...findings, ...(await checkArsenal(configured, files, input, terminal, findings))];
}

/** Starts the arsenal, tries its sources and checks both. Omits errors that `known` findings report. */
async function checkArsenal(
  configured: Configured,
  files: ConfigFiles,
  input: Input,
  terminal: Terminal,
  known: readonly Finding[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const warnings = new Set<string>();
  try {
    const reader = { ...terminal, json: true, told: "all" } as const;
    const operated = forOperator(configured.config, terminal, files.config);
    await using arsenal = createConfiguredArsenal(operated, reader, { sinks: [warningSink(warnings)] });
    const started = await boot(arsenal, configured);
    const reports = await sourcesTried(arsenal, started, waiting(input, terminal));
    // Workflows and saved programs that waited for the tools of a server are ready now.
    await internalsOf(arsenal).workflows();
    findings.push(...(await diagnoseStarted({ arsenal, configured, terminal, reports })));
  } catch (error) {
    const told = known.map(({ message }) => message);
    findings.push(...failures("arsenal", error).filter(({ message }) => !told.includes(message)));
  }
  const isTold = (text: string): boolean => findings.some(({ reported }) => reported && text.includes(reported));
  const untold = [...warnings].filter((text) => !isTold(text));
  return [
    ...findings,
    ...untold.map((text) => {
      const [, check = "tools", message = text] = /^(\S+): (.*)$/s.exec(text) ?? [];
      return warning(check, message);
    }),
  ];
}

const TOLD_BY_FINDINGS: ReadonlySet<EventName> = new Set(["ensemble-failed", "pins-waiting", "tool-changed"]);

/** Collects the warnings of an arsenal while it is checked, each once. The list is complete once the arsenal is closed. */
function warningSink(texts: Set<string>): Sink {
  return {
    name: "doctor",
    wants: (name, level) => isAtLeast(level, "warn") && !TOLD_BY_FINDINGS.has(name),
    write(events) {
      for (const event of events) texts.add(eventText(event));
    },
  };
}

function print(found: readonly Finding[], input: Input, terminal: Terminal): void {
  const { out, environment } = terminal;
  const findings = found.map(({ check, state, message, fix }) => ({ check, state, message, fix }));
  if (input.json) return void out.write(`${JSON.stringify({ findings }, undefined, 2)}\n`);
  const paint = styles(out, environment);
  const marks = { ok: paint.green("ok     "), warning: paint.yellow("warning"), failed: paint.red("failed ") };
  for (const { check, state, message, fix } of findings) {
    const how = fix && state !== "ok" ? `\n         ${fix}` : "";
    out.write(`${marks[state]}  ${paint.bold(check)}: ${message}${how}\n`);
  }
}
