import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { TierName } from "../../adapters/embedders/shipped-tiers.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalParts } from "../../config/parts/arsenal-parts.ts";
import type { LoadedConfig } from "../../config/load/load-config.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { boot } from "../../config/parts/boot.ts";
import type { DocumentReport } from "../../config/parts/start-configured.ts";
import { toA2aAgents, toOpenApis } from "../../config/api-config.ts";
import { type ConfiguredMcpServer, toMcpServers } from "../../config/clients/mcp-servers.ts";
import { type ServerNote, type ServerProblem, showProblem } from "../../config/clients/server-problem.ts";
import { localOperator } from "../../guard/principal.ts";
import type { Input, Option, Terminal } from "../command.ts";
import { createConfiguredArsenal, type Reader } from "./configured-arsenal.ts";
import { type FollowedDocument, withContent } from "./followed-documents.ts";
import { createDemoArsenal } from "../demo/create-demo-arsenal.ts";
import { forOperator } from "./local-approvals.ts";
import { toldFailure } from "../serve/upstream-status.ts";

/** Options of commands that connect MCP servers: more servers, from the configuration file of an MCP client, and a look at what is said. */
export const MCP_CONFIG: Readonly<Record<"mcp-config" | "debug-protocol", Option>> = {
  "mcp-config": {
    value: "FILE",
    repeatable: true,
    description: "Also use the servers of this MCP client file: mcp.json, claude_desktop_config.json, …",
  },
  "debug-protocol": { description: "Write every message to and from MCP servers to stderr, without known secrets" },
};

/** The option that narrows a command to one toolset. */
export const TOOLSET: Readonly<Record<"toolset", Option>> = {
  toolset: { value: "NAME", description: "Look only at the tools of this toolset" },
};

/** The toolset that the user named, as the arsenal takes it. Throws TOOLSET_NOT_FOUND if there is none of that name. */
export function throughToolset({ options }: Input, arsenal: ToolArsenal): { readonly toolset?: string } {
  const { toolset } = options;
  return toolset === undefined ? {} : { toolset: arsenal.toolsets.get(toolset, localOperator()).name };
}

/** The configuration files of a command. */
export interface ConfigFiles {
  readonly config: string | undefined;
  readonly mcpConfigs: readonly string[];
  /** All of them. */
  readonly paths: readonly string[];
}

/** A configuration with the servers and OpenAPI documents it names, and what is wrong with others. */
export interface Configured extends LoadedConfig {
  readonly servers: readonly ConfiguredMcpServer[];
  readonly documents: readonly FollowedDocument[];
  readonly problems: readonly ServerProblem[];
  readonly notes: readonly ServerNote[];
}

/** The configuration file a command uses: the one named, or `arsenal.yaml` here, or none. */
export function configPath(input: Input, terminal: Terminal): string | undefined {
  if (input.config !== undefined) return resolve(terminal.folder, input.config);
  const beside = resolve(terminal.folder, "arsenal.yaml");
  return existsSync(beside) ? beside : undefined;
}

/** The settings of the configuration file a command uses, or every default. Nothing that they name is opened. */
export async function readSettings(input: Input, terminal: Terminal): Promise<ResolvedConfig> {
  const { loadConfig } = await import("../../config/load/load-config.ts");
  const { environment, folder } = terminal;
  return (await loadConfig(configPath(input, terminal), environment, { folder })).config;
}

/** The configuration files of a command; undefined if there are none, and the demo catalog is used. */
export function configFiles(input: Input, terminal: Terminal): ConfigFiles | undefined {
  const config = configPath(input, terminal);
  const mcpConfigs = (input.repeated["mcp-config"] ?? []).map((file) => resolve(terminal.folder, file));
  const paths = [...(config === undefined ? [] : [config]), ...mcpConfigs];
  return paths.length === 0 ? undefined : { config, mcpConfigs, paths };
}

/** Reads the configuration a command uses. */
export async function loadConfigured({ config, mcpConfigs }: ConfigFiles, terminal: Terminal): Promise<Configured> {
  const { loadConfig } = await import("../../config/load/load-config.ts");
  const { environment, folder } = terminal;
  const loaded = await loadConfig(config, environment, { mcpConfigs, folder });
  const { servers, problems } = toMcpServers(loaded.config);
  const apis = toOpenApis(loaded.config);
  const documents = await withContent(apis.documents);
  const agents = toA2aAgents(loaded.config);
  const all = [...loaded.problems, ...problems, ...apis.problems, ...agents.problems];
  return { ...loaded, servers, documents, problems: all };
}

/** The arsenal a command works on: the configured one, or else the demo catalog. It has tried to connect each server once. */
export async function openArsenal(
  input: Input,
  terminal: Terminal,
  given: ToolArsenalParts & {
    /** Overrides the configured tier. */
    readonly tier?: TierName;
    /** Overrides the configured model. */
    readonly llm?: ResolvedConfig["llm"];
    /** Registers tools as their sources offer them: nothing is blocked, neutralised or pinned. For looking at tools only. */
    readonly asOffered?: boolean;
  } & Pick<Reader, "told"> = {},
): Promise<ToolArsenal> {
  const { tier, llm, asOffered = false, told = [], ...others } = given;
  const parts = { environment: terminal.environment, ...others };
  const files = configFiles(input, terminal);
  if (files === undefined) {
    if (!input.json) terminal.err.write("No arsenal.yaml in this folder. Using the demo catalog.\n");
    return createDemoArsenal(parts, { place: terminal, tier, llm });
  }
  const configured = await loadConfigured(files, terminal);
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
  const { documents } = await boot(arsenal, configured);
  try {
    if (!input.json)
      for (const problem of configured.problems) terminal.err.write(`Left out: ${showProblem(problem)}\n`);
    const [reports] = await Promise.all([documents, arsenal.upstreamsAttempted({ signal: terminal.signal })]);
    if (!input.json) tellAbsent(arsenal, reports, terminal);
    return arsenal;
  } catch (error) {
    await arsenal.close();
    throw error;
  }
}

function tellAbsent({ upstreams }: ToolArsenal, reports: readonly DocumentReport[], { err }: Terminal): void {
  for (const { name, error } of reports)
    if (error !== undefined) err.write(`Cannot load ${name}: ${toldFailure(error)}\n`);
  for (const { name, state } of upstreams)
    if (state.kind === "failed") err.write(`Cannot connect to ${name}: ${toldFailure(state.error)}\n`);
}
