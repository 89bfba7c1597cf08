import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { readInputs } from "../../../config/clients/client-config.ts";
import { workspaceOf } from "../../../config/clients/mcp-config-file.ts";
import { ENTRY_NAME } from "../../arsenal/client-entries.ts";
import type { Terminal } from "../../command.ts";
import { wrongInput } from "../../input.ts";
import { asRecord, isPlainObject } from "../../../tool/json-schema.ts";
import { type FoundClient, problemsOf } from "../find-clients.ts";
import { FORMATS } from "../formats/formats.ts";
import type { CarriedSettings, FromKind } from "./carried.ts";
import { clientFile, vsCodeFile } from "./client-file.ts";
import { mcpHub } from "./mcp-hub.ts";
import { carryProxyLines, mcpProxy } from "./mcp-proxy.ts";
import { mcphub } from "./mcphub.ts";
import { oneMcp } from "./one-mcp.ts";

/** The types of files, in the order of detection. */
const KINDS = {
  "1mcp": oneMcp,
  mcphub,
  "mcp-hub": mcpHub,
  "mcp-proxy": mcpProxy,
  "mcp-servers": clientFile,
  vscode: vsCodeFile,
} as const satisfies Readonly<Record<string, FromKind>>;

export type FromKindName = keyof typeof KINDS;

export const FROM_KINDS = Object.keys(KINDS) as readonly FromKindName[];

export interface FromFile extends Omit<CarriedSettings, "servers"> {
  readonly kind: FromKindName;
  /** The file's servers, in the form of a client's servers. */
  readonly found: FoundClient;
}

/** Reads the file of another gateway or client. `kind` is its format, which is detected by default. */
export async function readFrom(path: string, kind: FromKindName | undefined, terminal: Terminal): Promise<FromFile> {
  const file = resolve(terminal.folder, path);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code})`;
    throw wrongInput("--from", path, `The file ${path} ${reason}.`, "Check the path.");
  });
  const isScript = isProxyScript(text, file) && (kind === undefined || kind === "mcp-proxy");
  const root = isScript ? {} : await parse(text, path);
  const name = isScript ? "mcp-proxy" : (kind ?? recognise(root, path));
  const { servers: carried, ...settings } = isScript ? carryProxyLines(text, path) : KINDS[name].carry(root, path);
  const { [ENTRY_NAME]: own, ...servers } = carried;
  if (Object.keys(servers).length === 0 && settings.leftOut.length === 0) refuseEmpty(path, name);
  const folder = workspaceOf(file);
  const inputs = root["inputs"] ?? asRecord(root["mcp"])["inputs"];
  const found: FoundClient = {
    client: KINDS[name].title,
    file,
    format: "jsonc",
    path: ["mcpServers"],
    style: "url",
    toolset: "from",
    expands: "all",
    workspace: folder,
    servers,
    inputs: readInputs(inputs),
    hasOwnEntry: own !== undefined,
    problems: await problemsOf(servers, inputs, { environment: terminal.environment, folder }),
  };
  return { kind: name, found, ...settings };
}

/** Returns whether a text that is not JSON or YAML mentions mcp-proxy: a script, or one command line. */
function isProxyScript(text: string, file: string): boolean {
  return !/^\s*[{[]|^\s*\/[/*]/.test(text) && !/\.(?:json\w?|ya?ml|toml)$/i.test(file) && text.includes("mcp-proxy");
}

async function parse(text: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const ending = extname(path).toLowerCase();
  if (ending === ".toml") {
    const problem = `${path} is a TOML file, and no program that setup --from knows has its servers in one.`;
    throw wrongInput("--from", path, problem, "1MCP has its servers in mcp.json, beside config.toml.");
  }
  const format = ending === ".yaml" || ending === ".yml" ? FORMATS.yaml : FORMATS.jsonc;
  const root = await format.parse(text, path);
  if (isPlainObject(root)) return root;
  throw wrongInput("--from", path, `${path} is not an object.`, 'Give a file such as { "mcpServers": { … } }.');
}

function recognise(root: Readonly<Record<string, unknown>>, path: string): FromKindName {
  const found = FROM_KINDS.find((name) => KINDS[name].isLike(root));
  if (found !== undefined) return found;
  const keys = Object.keys(root).slice(0, 5).join(", ") || "none";
  const problem = `${path} has no servers that setup knows: neither mcpServers nor servers. Its keys: ${keys}.`;
  throw wrongInput(
    "--from",
    path,
    problem,
    `Give another file, or say what it is: --from-kind ${FROM_KINDS.join("|")}`,
  );
}

function refuseEmpty(path: string, kind: FromKindName): never {
  const problem = `${path}, read as a file of ${KINDS[kind].title}, has no servers.`;
  throw wrongInput("--from", path, problem, `If it is another kind, add --from-kind ${FROM_KINDS.join("|")}`);
}
