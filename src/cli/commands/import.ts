import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { A2aAgentSettings } from "../../adapters/sources/a2a/settings.ts";
import type { McpServerSettings } from "../../adapters/sources/mcp/settings.ts";
import { toA2aAgents } from "../../config/api-config.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { count, harmless, messageOf, nearest } from "../../errors/show-value.ts";
import type { Source } from "../../register/source.port.ts";
import { toRegistrations } from "../../register/to-registrations.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { configFiles, loadConfigured } from "../arsenal/open-arsenal.ts";
import { wrongInput } from "../input.ts";
import { note } from "../terminal/style.ts";

/** A source to import from. */
interface Imported {
  readonly source: Source;
  /** The skipped items, one line each, after the source was listed. */
  skipped(): readonly string[];
}

type OpenSource = (words: readonly string[], input: Input, terminal: Terminal) => Promise<readonly Imported[]>;

const KINDS: Readonly<Record<string, OpenSource>> = {
  openapi: openOpenApi,
  mcp: openMcp,
  scripts: openScripts,
  a2a: openA2a,
  descriptor: openDescriptor,
};

export const command: Command = {
  actions: {
    openapi: { summary: "From an OpenAPI document: a file or an address", positionals: ["SOURCE"] },
    mcp: {
      summary:
        "From an MCP server: a command that starts it, an address, the file of an MCP client, or a configured name",
      positionals: ["SOURCE…"],
    },
    scripts: {
      summary: "From TypeScript, JavaScript, Python and bash files: files, folders or patterns",
      positionals: ["PATH…"],
    },
    a2a: { summary: "From an A2A agent: its address, or a configured name", positionals: ["SOURCE"] },
    descriptor: {
      summary: "From TOML descriptors of ensembles: a file, a folder or a pattern",
      positionals: ["SOURCE"],
    },
  },
  options: {
    name: { value: "N", description: "The namespace of the tools", fallback: "the source's own name" },
  },
  examples: [
    "import openapi petstore.yaml",
    "import openapi https://api.example.com/openapi.json --name shop > tools.jsonl",
    "import scripts ./tools",
    "import a2a https://weather.example.com",
    "import mcp mcp.json",
    "import mcp npx -y @modelcontextprotocol/server-everything",
    "import descriptor ensembles/io.toml",
    "import mcp --name everything npx -y @modelcontextprotocol/server-everything",
  ],
  async run(input, terminal) {
    const [kind = "", ...words] = input.positionals;
    const opened = (await KINDS[kind]?.(words, input, terminal)) ?? [];
    let tools = 0;
    let skipped = 0;
    for (const each of opened) {
      tools += await printTools(each.source, terminal).catch((error: unknown) => {
        // One of several servers may be down. A single one must work.
        if (opened.length === 1) throw error;
        tell(`${each.source.name}: ${messageOf(error)}`, terminal);
        return 0;
      });
      for (const line of each.skipped()) {
        skipped++;
        tell(line, terminal);
      }
    }
    const left = skipped === 0 ? "" : `, ${skipped} left out`;
    note(terminal, `${count(tools, "tool")}${left}`);
    return tools > 0 ? 0 : 1;
  },
};

function tell(line: string, { err }: Terminal): void {
  // Text from a document must not control the terminal or take more than one line.
  err.write(`${harmless(line).replaceAll(/\s+/g, " ")}\n`);
}

async function printTools(source: Source, terminal: Terminal): Promise<number> {
  const { signal } = terminal;
  try {
    await source.connect({ signal });
    const offered = await source.list({ signal });
    const registrations = await toRegistrations(offered, source, { now: 0 });
    for (const { tool } of registrations) {
      const { id, name, namespace, description, parameters } = tool;
      terminal.out.write(`${JSON.stringify({ id, name, namespace, description, parameters })}\n`);
    }
    return registrations.length;
  } finally {
    await source.disconnect();
  }
}

async function openA2a([source = ""]: readonly string[], input: Input, terminal: Terminal) {
  const { a2aSource } = await import("../../adapters/sources/a2a/a2a.ts");
  return [{ source: a2aSource(await agentOf(source, input, terminal)), skipped: () => [] }];
}

async function agentOf(source: string, input: Input, terminal: Terminal): Promise<A2aAgentSettings> {
  const { name } = input.options;
  const url = /^https?:/i.test(source) ? URL.parse(source) : null;
  if (url !== null) return { name: name ?? url.hostname, url: source };
  const { config } = await loadConfigured(configFiles(input, terminal), terminal);
  const found = toA2aAgents(config).agents.find((agent) => agent.name === source);
  if (found !== undefined) return name === undefined ? found : { ...found, namespace: name };
  const fix = "Give the agent's address, such as https://HOST, or a name under a2a.agents.";
  throw wrongInput("SOURCE", source, `"${source}" is neither an address nor a configured agent.`, fix);
}

async function openOpenApi([source = ""]: readonly string[], input: Input, terminal: Terminal) {
  const { openapiSource } = await import("../../adapters/sources/openapi/openapi.ts");
  const isAddress = /^(?:https?|file):/i.test(source);
  const document = isAddress ? source : resolve(terminal.folder, source);
  const host = URL.parse(source)?.hostname ?? "";
  const opened = openapiSource({ name: input.options["name"] ?? (host === "" ? fileName(source) : host), document });
  const skipped = (): readonly string[] =>
    opened.problems.map(
      ({ operation, reason, skipped: isOut }) => `${isOut ? "Skipped" : "Not complete"}: ${operation}: ${reason}`,
    );
  return [{ source: opened, skipped }];
}

async function openScripts(paths: readonly string[], input: Input, terminal: Terminal): Promise<readonly Imported[]> {
  const { scriptsSource, showProblem } = await import("../../adapters/sources/scripts/scripts.ts");
  const name = input.options["name"] ?? fileName(resolve(terminal.folder, paths[0] ?? ""));
  const source = scriptsSource({ name, paths: paths.map((path) => resolve(terminal.folder, path)) });
  return [{ source, skipped: () => source.problems.map((problem) => `Skipped: ${showProblem(problem)}`) }];
}

async function openDescriptor([source = ""]: readonly string[], input: Input, terminal: Terminal) {
  const { descriptorFiles } = await import("../../adapters/sources/descriptor/descriptor-files.ts");
  const { descriptorSource } = await import("../../adapters/sources/descriptor/descriptor.ts");
  const files = await descriptorFiles(resolve(terminal.folder, source));
  // Nothing runs here, so the handlers' modules are not loaded.
  const opened = await Promise.all(files.map((file) => descriptorSource({ file }, { loadModules: false })));
  const { name } = input.options;
  return opened.map((each) => ({
    source: name === undefined ? each : { ...each, namespaces: [name] },
    skipped: () => each.problems.map(({ invoker, error }) => `Skipped: ${each.name}.${invoker}: ${error.message}`),
  }));
}

async function openMcp(words: readonly string[], input: Input, terminal: Terminal): Promise<readonly Imported[]> {
  const { mcpSource } = await import("../../adapters/sources/mcp/mcp.ts");
  const { servers, lines } = await mcpServers(words, input, terminal);
  return servers.map((server, index) => {
    const skipped: string[] = index === 0 ? [...lines] : [];
    const report = ({ name, reason }: { readonly name: string; readonly reason: string }): void =>
      void skipped.push(`Skipped: ${name}: ${reason}`);
    return { source: mcpSource(server, { report }), skipped: () => skipped };
  });
}

/** The servers of an address, a configured name, the configuration file of an MCP client, or a command that starts one. */
async function mcpServers(words: readonly string[], input: Input, terminal: Terminal): Promise<Servers> {
  const [source = ""] = words;
  if (words.length > 1) return commandServer(words, input);
  const address = URL.parse(source);
  if (address !== null && /^(?:https?|wss?):$/.test(address.protocol)) {
    const kind = address.protocol.startsWith("ws") ? "websocket" : "http";
    const name = input.options["name"] ?? address.hostname;
    return { servers: [{ name, transport: { kind, url: source } }], lines: [] };
  }
  const configured = await configuredServer(source, input, terminal);
  if (configured !== undefined) return { servers: [configured], lines: [] };
  const path = resolve(terminal.folder, source);
  return /\.(?:jsonc?|ya?ml)$/i.test(source) || existsSync(path)
    ? clientFile(source, path, terminal)
    : commandServer(toWords(source), input);
}

interface Servers {
  readonly servers: readonly McpServerSettings[];
  /** The skipped entries of a file. */
  readonly lines: readonly string[];
}

function commandServer(words: readonly string[], input: Input): Servers {
  const [first = "", ...args] = words;
  const name = input.options["name"] ?? commandName(words);
  return { servers: [{ name, transport: { kind: "stdio", command: first, args } }], lines: [] };
}

/** The configured server with this name. If there is none, suggests a similar name on stderr. */
async function configuredServer(name: string, input: Input, terminal: Terminal) {
  if (!/^[\w-]+$/.test(name)) return undefined;
  const { servers } = await loadConfigured(configFiles(input, terminal), terminal);
  const found = servers.find((server) => server.name === name || server.writtenAs === name);
  if (found !== undefined) return { ...found, name: input.options["name"] ?? found.name };
  const names = servers.map((server) => server.name);
  const near = nearest(name, names);
  if (near !== undefined) tell(`No configured server is named "${name}". Did you mean "${near}"?`, terminal);
  return undefined;
}

async function clientFile(source: string, path: string, { environment }: Terminal): Promise<Servers> {
  const { readMcpConfigFile } = await import("../../config/clients/mcp-config-file.ts");
  const { toMcpServers } = await import("../../config/clients/mcp-servers.ts");
  const { showProblem } = await import("../../config/clients/server-problem.ts");
  const read = await readMcpConfigFile(path, environment);
  const { servers, problems } = toMcpServers({ mcp: { servers: read.servers } } as Parameters<typeof toMcpServers>[0]);
  const lines = [...read.problems, ...problems].map((problem) => `Skipped: ${showProblem(problem)}`);
  if (servers.length > 0) return { servers, lines };
  const fix = lines[0] ?? "Add one under mcpServers.";
  throw fixable("CONFIG_INVALID", `${source} has no usable server.`, fix, { field: "SOURCE" });
}

/** Programs that run another one, whose name is their first argument that is not an option or one of these words. */
const RUNNERS = /^(?:npx|bunx|pnpx|uvx|pipx|npm|pnpm|yarn|bun|uv|node|deno|tsx|python[\d.]*|py)(?:\.(?:exe|cmd))?$/i;
const RUNNER_WORDS: ReadonlySet<string> = new Set(["run", "exec", "dlx", "x"]);

/** The default name for the tools of a server: `server-everything` of `npx -y @modelcontextprotocol/server-everything`. */
export function commandName([first = "", ...args]: readonly string[]): string {
  const program = RUNNERS.test(basename(first))
    ? args.find((word) => !word.startsWith("-") && !RUNNER_WORDS.has(word))
    : undefined;
  // A package may end in a version.
  return fileName((program ?? first).replace(/(?<=[^/\\])@[^/\\]*$/, ""));
}

/** The words of a command line. Quotes keep spaces together. */
function toWords(line: string): readonly string[] {
  return Array.from(
    line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}

/** `petstore` of `./petstore.openapi.yaml`. */
function fileName(path: string): string {
  return basename(path).replace(/\.[^.].*$/, "") || "imported";
}
