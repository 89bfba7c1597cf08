import { internalsOf } from "../../arsenal.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { McpUpstream } from "../../adapters/sources/mcp/upstream/upstream.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { checkAdapters } from "../../config/start/check-adapters.ts";
import { createSurroundings } from "../../wire/surroundings.ts";
import { auditType, stateType } from "../../config/load/chosen-adapters.ts";
import { boot } from "../../config/start/boot.ts";
import type { SourceReport } from "../../config/start/start-configured.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { count, messageOf } from "../../errors/show-value.ts";
import type { EventName } from "../../observe/events.ts";
import { isAtLeast } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import { createProxyRoutes, showProxy } from "../../guard/egress/proxy.ts";
import { isPerCaller, readReference } from "../../guard/secrets/reference.ts";
import { createSecrets } from "../../guard/secrets/secrets.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { toolsetTools } from "./toolsets.ts";
import { localOperator } from "../../guard/principal.ts";
import type { TlsFiles } from "../../serve/http/listen-options.ts";
import { readCertificate } from "../../serve/http/tls.ts";
import type { Command, Input, Terminal } from "../command.ts";
import {
  type ConfigFiles,
  configFiles,
  type Configured,
  createConfiguredArsenal,
  loadConfigured,
  MCP_CONFIG,
} from "../arsenal/open-arsenal.ts";
import { eventText } from "../../observe/event-text.ts";
import { MINIMUM_NODE, nodeProblem } from "../node-version.ts";
import { styles } from "../terminal/style.ts";

interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  readonly fix?: string | undefined;
  /** The message of the event that the finding replaces. */
  readonly reported?: string;
}

const ok = (check: string, message: string): Finding => ({ check, state: "ok", message });
const warning = (check: string, message: string, fix?: string): Finding => ({ check, state: "warning", message, fix });
const failed = (check: string, message: string, fix?: string): Finding => ({ check, state: "failed", message, fix });

export const command: Command = {
  options: MCP_CONFIG,
  examples: ["doctor", "doctor --config config.prod.yaml", "doctor --mcp-config ~/.cursor/mcp.json"],
  async run(input, terminal) {
    const files = configFiles(input, terminal);
    const fix = "Write one, let `toolarsenal setup` write one, or pass --config FILE.";
    const none = warning("configuration", "no arsenal.yaml here; every default applies", fix);
    const findings = [checkNode(), ...(files.paths.length === 0 ? [none] : await checkConfiguration(files, terminal))];
    print(findings, input, terminal);
    return findings.some(({ state }) => state === "failed") ? 1 : 0;
  },
};

function checkNode(): Finding {
  const { node } = process.versions;
  if (nodeProblem(node) === undefined) return ok("node", `Node ${node}`);
  return failed("node", `Node ${node} is too old`, `Install Node ${MINIMUM_NODE} or newer.`);
}

/** The way that requests take out of this machine. Reports nothing if they leave directly, with the authorities of Node. */
function checkRoute({ egress }: ResolvedConfig, environment: Terminal["environment"]): readonly Finding[] {
  const routeTo = createProxyRoutes(egress, environment);
  const ways = ["https:", "http:"].flatMap((scheme) => {
    try {
      const route = routeTo(new URL(`${scheme}//toolarsenal.invalid`));
      return route === undefined ? [] : [ok("network", `${scheme}// through ${showProxy(route)} (${route.from})`)];
    } catch (error) {
      return failures("network", error);
    }
  });
  const { caFile } = egress;
  const { NODE_EXTRA_CA_CERTS: extra } = environment;
  const files = [caFile && `${caFile} (egress.ca_file)`, extra && `${extra} (NODE_EXTRA_CA_CERTS)`].filter(Boolean);
  return [
    ...ways,
    ...(files.length === 0 ? [] : [ok("network", `also trusts the authorities in ${files.join(" and ")}`)]),
  ];
}

async function checkConfiguration(files: ConfigFiles, terminal: Terminal): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let configured: Configured;
  try {
    configured = await loadConfigured(files, terminal);
    findings.push(ok("configuration", files.paths.join(", ")));
    findings.push(...checkRoute(configured.config, terminal.environment));
    const surroundings = createSurroundings(configured.config, terminal);
    for (const { part, message = "", error } of await checkAdapters(configured.config, surroundings))
      findings.push(...(error === undefined ? [ok(part, message)] : failures(part, error)));
    surroundings.egress.close();
    const { tls } = configured.config.server;
    if (tls) findings.push(await checkCertificate(tls, Date.now()).catch((error: unknown) => failure("tls", error)));
    for (const { server, field, message, fix } of configured.problems)
      findings.push(failed(server, `${field} ${message}`, fix));
    for (const { server, message } of configured.notes) findings.push(warning(server, message));
  } catch (error) {
    return [...findings, ...failures("configuration", error)];
  }
  const warnings = new Set<string>();
  try {
    const reader = { ...terminal, json: true, told: "all" } as const;
    await using arsenal = createConfiguredArsenal(configured.config, reader, { sinks: [warningSink(warnings)] });
    const { sources } = await boot(arsenal, configured);
    const [reports] = await Promise.all([
      sources,
      internalsOf(arsenal).upstreamsAttempted({ signal: terminal.signal }),
    ]);
    findings.push(...(await Promise.all(internalsOf(arsenal).upstreams.map(checkServer))));
    const servers = new Set(internalsOf(arsenal).upstreams.map(({ name }) => name));
    findings.push(
      ...reports.filter(({ name }) => !servers.has(name)).flatMap(checkSource),
      ...(await checkCredentials(configured, terminal)),
    );
    const known = new Set(findings.map(({ check }) => check));
    for (const [check, works] of Object.entries(await arsenal.healthCheck())) {
      // The adapter's own finding is more specific.
      if (known.has(check)) continue;
      findings.push(works ? ok(check, "works") : failed(check, "does not answer", `Check the ${check}'s settings.`));
    }
    const waiting = await checkPins(arsenal);
    findings.push(...checkMemory(configured.config), ...(await checkFolders(configured.config)), ...waiting);
    const fix = waiting.some(({ state }) => state === "warning")
      ? "Accept those that wait."
      : "Name MCP servers under `mcpServers:`, OpenAPI documents under `openapi:`, agents under `a2a.agents:`, TOML descriptors under `ensembles:`, source files under `scripts:`, or modules under `modules:`.";
    const { toolCount } = arsenal;
    findings.push(toolCount > 0 ? ok("tools", `${toolCount} registered`) : warning("tools", "none registered", fix));
    findings.push(...(await checkToolsets(arsenal)));
  } catch (error) {
    const told = findings.map(({ message }) => message);
    findings.push(...failures("arsenal", error).filter(({ message }) => !told.includes(message)));
  }
  const isTold = (text: string): boolean => findings.some(({ reported }) => reported && text.includes(reported));
  const said = findings.map(({ reported: _reported, ...finding }) => finding);
  const untold = [...warnings].filter((text) => !isTold(text));
  return [
    ...said,
    ...untold.map((text) => {
      const [, check = "tools", message = text] = /^(\S+): (.*)$/s.exec(text) ?? [];
      return warning(check, message);
    }),
  ];
}

const DAY_MS = 86_400_000;

/** A certificate that expires within this many days should be renewed. */
const RENEW_DAYS = 21;

/** Checks that the files are usable and match, and when the certificate expires. Throws `CONFIG_INVALID` if they are unusable. */
export async function checkCertificate({ cert, key }: TlsFiles, now: number): Promise<Finding> {
  const { validFromDate, validToDate } = (await readCertificate({ cert, key })).certificate;
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const days = Math.floor((validToDate.getTime() - now) / DAY_MS);
  const fix = `Renew ${cert}. A running gateway notices the new file.`;
  if (now > validToDate.getTime()) return failed("tls", `${cert} expired on ${day(validToDate)}`, fix);
  const clock = "Check the clock of this machine, or use another certificate.";
  if (now < validFromDate.getTime()) return failed("tls", `${cert} is not valid before ${day(validFromDate)}`, clock);
  const until = `${cert} is valid until ${day(validToDate)}`;
  return days >= RENEW_DAYS ? ok("tls", until) : warning("tls", `${until}, for ${count(days, "day")}`, fix);
}

/** State that a strict policy needs and a restart would lose. */
function checkMemory({ security, state, audit }: ResolvedConfig): readonly Finding[] {
  if (security.policy !== "strict") return [];
  return [
    ...(stateType(state) === "memory" ? [warning("state", "pins end with the process", "Set state.file.")] : []),
    ...(auditType(audit) === undefined ? [warning("audit", "calls are not recorded", "Set audit.file.")] : []),
  ];
}

/** Folders open to tools should not contain the gateway's own files. */
async function checkFolders(config: ResolvedConfig): Promise<readonly Finding[]> {
  const { foldersWithOwnFiles } = await import("../../config/load/own-files.ts");
  const fix = "Give tools a folder of their own, such as ./work. The gateway's own files are refused in any case.";
  return foldersWithOwnFiles(config).map(({ folder, files }) => {
    const named = files.length > 3 ? [...files.slice(0, 3), "…"] : files;
    return warning("files", `${folder} holds the gateway's own files: ${named.join(", ")}`, fix);
  });
}

async function checkToolsets(arsenal: ToolArsenal): Promise<readonly Finding[]> {
  return Promise.all(
    arsenal.toolsets.list(localOperator()).map(async (toolset): Promise<Finding> => {
      const check = `toolset ${toolset.name}`;
      const { tools, missing } = await toolsetTools(arsenal, toolset);
      const unknown = `names ${missing.join(", ")}, which no tool has`;
      if (missing.length > 0) return warning(check, unknown, "Check the ids with: toolarsenal list");
      if (tools.length > 0) return ok(check, count(tools.length, "tool"));
      return warning(check, "has no tools", "Check include and exclude, and that its sources are connected.");
    }),
  );
}

async function checkPins({ pins }: ToolArsenal): Promise<readonly Finding[]> {
  const found = (await pins?.list()) ?? [];
  const conflicts = found.filter(({ state }) => state === "conflict").length;
  const waiting = found.filter(({ state }) => state !== "accepted").length - conflicts;
  if (found.length === 0) return [];
  const fix = "Look at them with: toolarsenal pins list --diff, then: toolarsenal pins accept ID, or --all";
  const other = `the catalog holds ${count(conflicts, "tool")} otherwise than accepted, written by another process`;
  const reload =
    "Look at the differences with: toolarsenal pins list --diff, then reload the server, which writes its own again.";
  return [
    waiting === 0
      ? ok("pins", `${found.length - conflicts} accepted`)
      : warning("pins", `${waiting} of ${found.length} wait for you and are not used`, fix),
    ...(conflicts === 0 ? [] : [warning("pins", other, reload)]),
  ];
}

/** Events that have their own finding. */
const TOLD_BY_FINDINGS: ReadonlySet<EventName> = new Set(["ensemble-failed", "pins-waiting", "tool-changed"]);

/** Gathers the warnings of an arsenal while it is checked, each once. They are complete once the arsenal is closed. */
function warningSink(texts: Set<string>): Sink {
  return {
    name: "doctor",
    wants: (name, level) => isAtLeast(level, "warn") && !TOLD_BY_FINDINGS.has(name),
    write(events) {
      for (const event of events) texts.add(eventText(event));
    },
  };
}

/** The server was tried once, within its own deadline. */
async function checkServer(upstream: McpUpstream): Promise<Finding> {
  const { name: check, state } = upstream;
  if (state.kind === "failed") {
    const found = failure(check, state.error);
    const { code, details } = isArsenalError(state.error) ? state.error : {};
    const waitsForPin = code === "PERMISSION_DENIED" && details?.field === "command";
    return waitsForPin ? { ...found, state: "warning" } : found;
  }
  if (state.kind !== "connected") return failed(check, `is ${state.kind}`);
  try {
    const { length } = await upstream.list("tools");
    return ok(check, `connected, ${count(length, "tool")} (${state.protocolVersion})`);
  } catch (error) {
    return failure(check, error);
  }
}

/** A source, what is wrong with its tools, and those that nothing runs. */
function checkSource({ name: check, place, tools = 0, error, source }: SourceReport): readonly Finding[] {
  if (error !== undefined) return failures(check, error);
  const found = (source?.findings?.() ?? []).flatMap(
    ({ state, tool, message, fix, error: cause }): readonly Finding[] => {
      const about = tool === undefined ? check : `${check}.${tool}`;
      if (cause !== undefined) return failures(about, cause).map((each) => ({ ...each, reported: cause.message }));
      return [{ check: about, state, message, fix }];
    },
  );
  if (found.some((finding) => finding.check === check)) return found;
  const fix = "Check its settings, and what waits with: toolarsenal pins list";
  const own =
    tools > 0 || found.length > 0
      ? ok(check, `${count(tools, "tool")} from ${place}`)
      : warning(check, `no tool of ${place} is used`, fix);
  return [own, ...found];
}

/** Looks up every secret that the credentials of a source refer to: a call would fail without it. */
async function checkCredentials({ sources }: Configured, { environment }: Terminal): Promise<readonly Finding[]> {
  const { resolve } = createSecrets({ environment });
  const schemes = sources.flatMap(({ name, settings }) => {
    const credentials = "credentials" in settings && isPlainObject(settings.credentials) ? settings.credentials : {};
    return Object.entries(credentials).map(([scheme, credential]) => ({ name, scheme, credential }));
  });
  // At once, because a manager of secrets may take a second for each.
  const found = schemes.map(async ({ name, scheme, credential }): Promise<readonly Finding[]> => {
    const references = (isPlainObject(credential) ? Object.values(credential) : [credential]).filter(
      (value): value is string => typeof value === "string" && readReference(value) !== undefined,
    );
    try {
      for (const reference of references)
        if (!isPerCaller(reference)) await resolve(reference, { scope: name, field: `credentials.${scheme}` });
      return [];
    } catch (error) {
      return failures(name, error);
    }
  });
  return (await Promise.all(found)).flat();
}

function failure(check: string, error: unknown): Finding {
  return failures(check, error)[0] ?? failed(check, messageOf(error));
}

function failures(check: string, error: unknown): readonly Finding[] {
  if (!isArsenalError(error)) return [failed(check, messageOf(error))];
  const { issues, fix } = error.details;
  if (issues && issues.length > 0)
    return issues.map((issue) => failed(check, `${issue.field}: ${issue.message}`, issue.fix));
  // Many messages end with the fix, which has its own line here.
  const end = fix !== undefined && error.message.endsWith(` ${fix}`) ? -fix.length - 1 : undefined;
  return [failed(check, error.message.slice(0, end), fix)];
}

function print(findings: readonly Finding[], input: Input, terminal: Terminal): void {
  const { out, environment } = terminal;
  if (input.json) return void out.write(`${JSON.stringify({ findings }, undefined, 2)}\n`);
  const paint = styles(out, environment);
  const marks = { ok: paint.green("ok     "), warning: paint.yellow("warning"), failed: paint.red("failed ") };
  for (const { check, state, message, fix } of findings) {
    const how = fix && state !== "ok" ? `\n         ${fix}` : "";
    out.write(`${marks[state]}  ${paint.bold(check)}: ${message}${how}\n`);
  }
}
