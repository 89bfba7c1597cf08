import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { fixable } from "../../../errors/arsenal-error.ts";
import { fileName } from "../file-name.ts";
import type { ImportCommand, ImportRequest } from "../source-adapter.ts";
import { readServer } from "./read-settings.ts";
import type { McpServerSettings, WrittenMcpServer } from "./settings.ts";

interface Servers {
  readonly servers: readonly McpServerSettings[];
  readonly lines: readonly string[];
}

type Request = ImportRequest<WrittenMcpServer>;

/** The command `toolarsenal import mcp`. */
export const importServers: ImportCommand<WrittenMcpServer> = {
  summary: "From an MCP server: a command that starts it, an address, the file of an MCP client, or a configured name",
  positionals: ["SOURCE…"],
  examples: [
    "import mcp mcp.json",
    "import mcp npx -y @modelcontextprotocol/server-everything",
    "import mcp --name everything npx -y @modelcontextprotocol/server-everything",
  ],
  async open(words, asked) {
    const { mcpSource } = await import("./mcp.ts");
    const { servers, lines } = await findServers(words, asked);
    return servers.map((server, index) => {
      const skipped: string[] = index === 0 ? [...lines] : [];
      const report = ({ name, reason }: { readonly name: string; readonly reason: string }): void =>
        void skipped.push(`Skipped: ${name}: ${reason}`);
      return { source: mcpSource(server, { report }), skipped: () => skipped };
    });
  },
};

/** Finds the servers in the command's arguments: an address, a configured name, an MCP client's configuration file, or a command that starts a server. */
async function findServers(words: readonly string[], asked: Request): Promise<Servers> {
  const [source = ""] = words;
  if (words.length > 1) return commandServer(words, asked);
  const address = URL.parse(source);
  if (address !== null && /^(?:https?|wss?):$/.test(address.protocol))
    return toServers([{ name: asked.name ?? address.hostname, url: source }]);
  const configured = /^[\w-]+$/.test(source) ? await asked.configured(source) : undefined;
  if (configured !== undefined) return toServers([{ ...configured, name: asked.name ?? configured.name }]);
  const path = resolve(asked.folder, source);
  if (!/\.(?:jsonc?|ya?ml)$/i.test(source) && !existsSync(path)) return commandServer(toWords(source), asked);
  const { settings, skipped } = await asked.clientFile(path);
  const { servers, lines } = toServers(settings);
  const all = [...skipped, ...lines];
  if (servers.length > 0) return { servers, lines: all };
  const fix = all[0] ?? "Add one under mcpServers.";
  throw fixable("CONFIG_INVALID", `${source} has no usable server.`, fix, { field: "SOURCE" });
}

function toServers(written: readonly WrittenMcpServer[]): Servers {
  const servers: McpServerSettings[] = [];
  const lines: string[] = [];
  for (const each of written) {
    const read = readServer(each);
    if ("message" in read) lines.push(`Skipped: ${each.name}: ${read.field} ${read.message}. ${read.fix}`);
    else servers.push(read);
  }
  return { servers, lines };
}

function commandServer(words: readonly string[], { name }: Request): Servers {
  const [first = "", ...args] = words;
  return {
    servers: [{ name: name ?? commandName(words), transport: { kind: "stdio", command: first, args } }],
    lines: [],
  };
}

/** Programs that run another program. That program is their first argument that is neither an option nor one of these words. */
const RUNNERS = /^(?:npx|bunx|pnpx|uvx|pipx|npm|pnpm|yarn|bun|uv|node|deno|tsx|python[\d.]*|py)(?:\.(?:exe|cmd))?$/i;
const RUNNER_WORDS: ReadonlySet<string> = new Set(["run", "exec", "dlx", "x"]);

/** Returns the default name of a server: `server-everything` for `npx -y @modelcontextprotocol/server-everything`. */
export function commandName([first = "", ...args]: readonly string[]): string {
  const program = RUNNERS.test(basename(first))
    ? args.find((word) => !word.startsWith("-") && !RUNNER_WORDS.has(word))
    : undefined;
  // A package name may end with a version.
  return fileName((program ?? first).replace(/(?<=[^/\\])@[^/\\]*$/, ""));
}

/** Splits a command line into words. Quotes keep spaces together. */
function toWords(line: string): readonly string[] {
  return Array.from(
    line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
