import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { defaultCache } from "../../adapters/embedders/cache-folder.ts";
import type { TierName } from "../../adapters/embedders/shipped-tiers.ts";
import { internalsOf, ToolArsenal } from "../../arsenal.ts";
import { showProblem } from "../../config/clients/server-problem.ts";
import { type ConfiguredSource, configuredSources } from "../../config/load/configured-sources.ts";
import type { LoadedConfig } from "../../config/load/load-config.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { resolvedOptions, type ToolArsenalParts } from "../../wire/parts.ts";
import { boot } from "../../config/start/boot.ts";
import { localOperator } from "../../guard/principal.ts";
import type { EventName } from "../../observe/events.ts";
import type { Input, Option, Terminal } from "../command.ts";
import { toldFailure } from "../serve/upstream-status.ts";
import { eventSink, protocolSink } from "../terminal/event-sink.ts";
import { forOperator } from "./local-approvals.ts";
import { warnOfOwnFolders } from "./own-folders.ts";
import { sourcesTried } from "./sources-tried.ts";

/** Options of commands that connect MCP servers: further servers from a client's configuration file, and a log of protocol messages. */
export const MCP_CONFIG: Readonly<Record<"mcp-config" | "debug-protocol", Option>> = {
  "mcp-config": {
    value: "FILE",
    repeatable: true,
    description: "Also use the servers of this MCP client file: mcp.json, claude_desktop_config.json, …",
  },
  "debug-protocol": { description: "Write every message to and from MCP servers to stderr, without known secrets" },
};

export const TOOLSET: Readonly<Record<"toolset", Option>> = {
  toolset: { value: "NAME", description: "Use only the tools of this toolset" },
};

/** Returns the toolset from the command line. Throws TOOLSET_NOT_FOUND if it does not exist. */
export function throughToolset({ options }: Input, arsenal: ToolArsenal): { readonly toolset?: string } {
  const { toolset } = options;
  return toolset === undefined ? {} : { toolset: arsenal.toolsets.get(toolset, localOperator()).name };
}

export type ConfigFiles = ReturnType<typeof configFiles>;

/** A configuration with its sources, and the problems of unusable sources. */
export interface Configured extends LoadedConfig {
  readonly sources: readonly FollowedSource[];
}

/** A source with a hash of its files as of the last reading, to detect changes. */
export type FollowedSource = ConfiguredSource & { readonly contentHash?: string };

/** Returns the path of a command's configuration file: the given one, `arsenal.yaml` in this folder, or undefined. */
export function configPath(input: Input, terminal: Terminal): string | undefined {
  if (input.config !== undefined) return resolve(terminal.folder, input.config);
  const beside = resolve(terminal.folder, "arsenal.yaml");
  return existsSync(beside) ? beside : undefined;
}

/** Returns the settings of a command's configuration file, or the defaults. Does not open other files. */
export async function readSettings(input: Input, terminal: Terminal): Promise<ResolvedConfig> {
  const { loadConfig } = await import("../../config/load/load-config.ts");
  const { environment, folder } = terminal;
  return (await loadConfig(configPath(input, terminal), environment, { folder })).config;
}

/** Returns the configuration files of a command. Without files, the demo catalog is used. */
export function configFiles(input: Input, terminal: Terminal) {
  const config = configPath(input, terminal);
  const mcpConfigs = (input.repeated["mcp-config"] ?? []).map((file) => resolve(terminal.folder, file));
  return { config, mcpConfigs, paths: [...(config === undefined ? [] : [config]), ...mcpConfigs] };
}

/** Reads the configuration of a command. Without files, all settings have defaults. */
export async function loadConfigured({ config, mcpConfigs }: ConfigFiles, terminal: Terminal): Promise<Configured> {
  const { loadConfig } = await import("../../config/load/load-config.ts");
  const { environment, folder } = terminal;
  const loaded = await loadConfig(config, environment, { mcpConfigs, folder });
  const { sources, problems } = await configuredSources(loaded.config);
  return {
    ...loaded,
    sources: await Promise.all(sources.map(withContentHash)),
    problems: [...loaded.problems, ...problems],
  };
}

/** A source that follows its own files needs no hash. */
async function withContentHash(source: ConfiguredSource): Promise<FollowedSource> {
  const { files, followed } = source.watched ?? { files: [], followed: true };
  const read = followed ? [] : await Promise.all(files.map((file) => readFile(file).catch(() => undefined)));
  const bytes = read.filter((each) => each !== undefined);
  if (bytes.length === 0) return source;
  return { ...source, contentHash: createHash("sha256").update(Buffer.concat(bytes)).digest("hex") };
}

/** Opens the arsenal of a command: the configured one, or else the demo catalog. Each server is tried once. */
export async function openArsenal(
  input: Input,
  terminal: Terminal,
  given: ToolArsenalParts & {
    readonly tier?: TierName;
    /** Overrides the configured model. */
    readonly llm?: ResolvedConfig["llm"];
    /** Registers tools as their sources offer them, without blocking, neutralising or pinning. Only for inspection. */
    readonly asOffered?: boolean;
  } & Pick<Reader, "told"> = {},
): Promise<ToolArsenal> {
  const { tier, llm, asOffered = false, told = [], ...others } = given;
  const parts = { environment: terminal.environment, ...others };
  const files = configFiles(input, terminal);
  if (files.paths.length === 0) {
    if (!input.json) {
      terminal.err.write("No arsenal.yaml in this folder. Using the demo catalog.\n");
      warnOfOwnFolders({ embedder: {}, state: {} }, terminal);
    }
    const { createDemoArsenal } = await import("../demo/create-demo-arsenal.ts");
    return createDemoArsenal(parts, { place: terminal, tier, llm });
  }
  const configured = await loadConfigured(files, terminal);
  if (!input.json) warnOfOwnFolders(configured.config, terminal);
  const config = forOperator(configured.config, terminal, files.config);
  const { embedder, security } = config;
  const arsenal = createConfiguredArsenal(
    {
      ...config,
      ...(tier !== undefined && { embedder: { ...embedder, tier } }),
      ...(llm !== undefined && { llm }),
      ...(asOffered && {
        security: { ...security, pins: "off" as const, scan: { ...security.scan, definitions: "off" as const } },
      }),
    },
    { ...terminal, json: input.json, told, debugProtocol: input.flags.has("debug-protocol") },
    parts,
  );
  const started = await boot(arsenal, configured);
  try {
    if (!input.json)
      for (const problem of configured.problems) terminal.err.write(`Left out: ${showProblem(problem)}\n`);
    const reports = await sourcesTried(arsenal, started, waiting(input, terminal));
    // Workflows and saved programs that waited for the tools of a server are ready now.
    await internalsOf(arsenal).workflows();
    for (const { name, error } of input.json ? [] : reports)
      if (error !== undefined) terminal.err.write(`Cannot load ${name}: ${toldFailure(error)}\n`);
    for (const { name, state } of input.json ? [] : internalsOf(arsenal).upstreams)
      if (state.error !== undefined) terminal.err.write(`Cannot connect to ${name}: ${toldFailure(state.error)}\n`);
    return arsenal;
  } catch (error) {
    await arsenal.close();
    throw error;
  }
}

/** Where a command names the sources that it waits for. */
export function waiting({ json }: Pick<Input, "json">, { err, signal }: Terminal) {
  return { signal, ...(!json && { err }) };
}

/** Events that commands report themselves. */
const TOLD_BY_COMMANDS: readonly EventName[] = [
  "mcp-message",
  "ensemble-connected",
  "ensemble-failed",
  "confirmation-requested",
];

/** The streams for reports about an arsenal. */
export interface Reader extends Pick<Terminal, "err" | "environment"> {
  readonly json: boolean;
  /** Further events that the command reports itself. `all` if it reports all events. */
  readonly told?: readonly EventName[] | "all";
  /** Writes every message from and to MCP servers, at any log level. */
  readonly debugProtocol?: boolean;
}

/** Creates the arsenal of a configuration, not yet started. Writes warnings unless telemetry is off. Caches vectors by default. */
export function createConfiguredArsenal(
  given: ResolvedConfig,
  reader: Reader,
  parts: ToolArsenalParts = {},
): ToolArsenal {
  const { enabled = true, type = "console", level = "warn", logFormat: format, logLevels: levels } = given.telemetry;
  const { environment, json, told = [] } = reader;
  const embedder = { ...given.embedder, cache: given.embedder.cache ?? defaultCache(environment) };
  const debugProtocol = reader.debugProtocol === true || given.telemetry.debugProtocol;
  // Replaces the console sink with one that skips events that commands report. Other sinks stay.
  const isElsewhere = enabled && type !== "console";
  const telemetry = { ...given.telemetry, debugProtocol, enabled: isElsewhere };
  const config = { ...given, embedder, telemetry };
  const messages = debugProtocol ? [protocolSink(reader)] : [];
  const all = { environment, ...parts, sinks: [...(parts.sinks ?? []), ...messages] };
  if (!enabled || told === "all") return new ToolArsenal(resolvedOptions(config, all));
  const without = new Set([...TOLD_BY_COMMANDS, ...told]);
  const sink = eventSink(reader, { level, levels, format, json, without });
  return new ToolArsenal(resolvedOptions(config, { ...all, sinks: [...all.sinks, sink] }));
}
