import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { McpServerSettings } from "../../adapters/sources/mcp/settings.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { nearest } from "../../errors/show-value.ts";
import type { Source } from "../../register/source.port.ts";
import { toRegistrations } from "../../register/to-registrations.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { harmless, styles } from "../style.ts";

/** A source to import from, and what to say of it once it is listed. */
interface Imported {
  readonly source: Source;
  /** What was left out, one line each. */
  skipped(): readonly string[];
}

type Open = (source: string, input: Input, terminal: Terminal) => Promise<readonly Imported[]>;

const KINDS: Readonly<Record<string, Open>> = { openapi: openOpenApi, mcp: openMcp };
/** Kinds that the command line names and this release does not import yet. */
const LATER: ReadonlySet<string> = new Set(["a2a", "descriptor"]);

/** `toolarsenal import` */
export const importTools: Command = {
  name: "import",
  summary: "Print the tools of an OpenAPI document or an MCP server, one line of JSON each.",
  positionals: ["KIND", "SOURCE"],
  options: {
    name: { type: "string", value: "N", description: "The namespace of the tools", fallback: "the source's own name" },
  },
  examples: [
    "import openapi petstore.yaml",
    "import openapi https://api.example.com/openapi.json --name shop > tools.jsonl",
    "import mcp mcp.json",
    'import mcp "npx -y @modelcontextprotocol/server-everything"',
  ],
  async run(input, terminal) {
    const [kind = "", source = ""] = input.positionals;
    const opened = await kindOf(kind)(source, input, terminal);
    let count = 0;
    let skipped = 0;
    for (const each of opened) {
      count += await printTools(each.source, terminal).catch((error: unknown) => {
        // Of several servers one may be away; alone, it is what was asked for.
        if (opened.length === 1) throw error;
        tell(`${each.source.name}: ${error instanceof Error ? error.message : String(error)}`, terminal);
        return 0;
      });
      for (const line of each.skipped()) {
        skipped++;
        tell(line, terminal);
      }
    }
    const left = skipped === 0 ? "" : `, ${skipped} left out`;
    terminal.err.write(
      styles(terminal.err, terminal.environment).dim(`${count} ${count === 1 ? "tool" : "tools"}${left}\n`),
    );
    return count > 0 ? 0 : 1;
  },
};

function tell(line: string, { err }: Terminal): void {
  // What a document says must not steer the terminal, nor take more than its line.
  err.write(`${harmless(line).replaceAll(/\s+/g, " ")}\n`);
}

async function printTools(source: Source, terminal: Terminal): Promise<number> {
  const { signal } = terminal;
  try {
    await source.connect({ signal });
    const offered = await source.list({ signal });
    const registrations = toRegistrations(offered, source, { now: 0 });
    for (const { tool } of registrations) terminal.out.write(`${JSON.stringify(toLine(tool))}\n`);
    return registrations.length;
  } finally {
    await source.disconnect();
  }
}

function toLine({ id, name, namespace, description, parameters }: Tool): Partial<Tool> {
  return { id, name, namespace, description, parameters };
}

function kindOf(kind: string): Open {
  const open = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (open !== undefined) return open;
  const known = Object.keys(KINDS);
  const near = nearest(kind, known);
  const fix = near === undefined || LATER.has(kind) ? `Use ${known.join(" or ")}.` : `Did you mean ${near}?`;
  const problem = LATER.has(kind) ? `"${kind}" cannot be imported in this release` : `there is no kind "${kind}"`;
  throw new ArsenalError("INPUT_INVALID", `KIND: ${problem}. ${fix}`, { field: "KIND", value: kind, fix });
}

function nameOf(input: Input, fallback: string): string {
  const { name } = input.options;
  return typeof name === "string" ? name : fallback;
}

async function openOpenApi(source: string, input: Input, terminal: Terminal): Promise<readonly Imported[]> {
  const { openapi } = await import("../../adapters/sources/openapi/openapi.ts");
  const isAddress = /^(?:https?|file):/i.test(source);
  const document = isAddress ? source : resolve(terminal.folder, source);
  const host = URL.parse(source)?.hostname ?? "";
  const opened = openapi({ name: nameOf(input, host === "" ? fileName(source) : host), document });
  const skipped = (): readonly string[] =>
    opened.problems.map(
      ({ operation, reason, skipped: isOut }) => `${isOut ? "Skipped" : "Not complete"}: ${operation}: ${reason}`,
    );
  return [{ source: opened, skipped }];
}

async function openMcp(source: string, input: Input, terminal: Terminal): Promise<readonly Imported[]> {
  const { mcp } = await import("../../adapters/sources/mcp/mcp.ts");
  const { servers, lines } = await mcpServers(source, input, terminal);
  return servers.map((server, index) => {
    const skipped: string[] = index === 0 ? [...lines] : [];
    const report = ({ name, reason }: { readonly name: string; readonly reason: string }): void =>
      void skipped.push(`Skipped: ${name}: ${reason}`);
    return { source: mcp(server, { report }), skipped: () => skipped };
  });
}

/** An address, the configuration file of an MCP client, or a command that starts a server. */
async function mcpServers(
  source: string,
  input: Input,
  { folder, environment }: Terminal,
): Promise<{ readonly servers: readonly McpServerSettings[]; readonly lines: readonly string[] }> {
  const address = URL.parse(source);
  if (address !== null && /^(?:https?|wss?):$/.test(address.protocol)) {
    const kind = address.protocol.startsWith("ws") ? "websocket" : "http";
    return { servers: [{ name: nameOf(input, address.hostname), transport: { kind, url: source } }], lines: [] };
  }
  const path = resolve(folder, source);
  if (/\.(?:jsonc?|ya?ml)$/i.test(source) || existsSync(path)) {
    const { readMcpConfigFile } = await import("../../config/mcp-config-file.ts");
    const { toMcpServers } = await import("../../config/mcp-servers.ts");
    const { showProblem } = await import("../../config/server-problem.ts");
    const read = await readMcpConfigFile(path, environment);
    const { servers, problems } = toMcpServers({ mcp: { servers: read.servers } } as Parameters<
      typeof toMcpServers
    >[0]);
    const lines = [...read.problems, ...problems].map((problem) => `Skipped: ${showProblem(problem)}`);
    if (servers.length > 0) return { servers, lines };
    const fix = lines[0] ?? "Write one into mcpServers.";
    throw new ArsenalError("CONFIG_INVALID", `${source} has no server that can be used. ${fix}`, {
      field: "SOURCE",
      fix,
    });
  }
  const [command = "", ...args] = toWords(source);
  return {
    servers: [{ name: nameOf(input, fileName(args.at(-1) ?? command)), transport: { kind: "stdio", command, args } }],
    lines: [],
  };
}

/** The words of a command line; quotes keep blanks together. */
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
