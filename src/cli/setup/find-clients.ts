import { readFile } from "node:fs/promises";
import { type ClientPlace, readClientConfig, readInputs } from "../../config/clients/client-config.ts";
import type { ClientInput } from "../../config/clients/client-references.ts";
import { messageOf, showValue } from "../../errors/show-value.ts";
import { asRecord, isPlainObject } from "../../tool/json-schema.ts";
import type { Terminal } from "../command.ts";
import { ENTRY_NAME } from "../arsenal/client-entries.ts";
import { type ClientFile, clientFiles } from "./client-files.ts";
import { type ServerEntry, styleOf } from "./entry-styles.ts";
import { entriesAt } from "./formats/file-format.ts";
import { FORMATS } from "./formats/formats.ts";
import { mapTexts } from "./map-texts.ts";

export interface FoundClient extends ClientFile {
  /** Its servers in the common form, except our own entry. References that the client does not expand are escaped: `$${NAME}`. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  /** The values that VS Code prompts for. */
  readonly inputs: readonly ClientInput[];
  /** True if the file already contains this program. */
  readonly hasOwnEntry: boolean;
  readonly problems: readonly string[];
}

/** Reads every existing client file that contains servers, or should contain them. */
export async function findClients(terminal: Terminal): Promise<readonly FoundClient[]> {
  const found = await Promise.all(clientFiles(terminal).map((place) => readClient(place, terminal)));
  return found.filter((client) => client !== undefined);
}

async function readClient(given: ClientFile, terminal: Terminal): Promise<FoundClient | undefined> {
  const text = await readFile(given.file, "utf8").catch(() => undefined);
  if (text === undefined || text.trim() === "") return undefined;
  const empty = { ...given, servers: {}, inputs: [], hasOwnEntry: false, problems: [] };
  let root: unknown;
  try {
    root = await FORMATS[given.format].parse(text, given.file);
  } catch (error) {
    // The second path in the same file would report the same error again.
    if (given.path.length > 1) return undefined;
    return { ...empty, problems: [messageOf(error)] };
  }
  const place = { ...given, path: serversPath(root, given) };
  const block = entriesAt(root, place.path);
  if (block === undefined) return undefined;
  const hasOwnEntry = Object.hasOwn(block, ENTRY_NAME);
  const { [ENTRY_NAME]: _own, ...found } = block;
  const { read } = styleOf(place.style);
  const entries = Object.entries(found).flatMap(([name, entry]): readonly (readonly [string, ServerEntry])[] => {
    if (!isPlainObject(entry)) return [];
    const server = read(mapTexts(entry, (value) => escaped(value, place.expands)) as ServerEntry);
    return server === undefined ? [] : [[name, server]];
  });
  const { inputs } = asRecord(root);
  const servers = Object.fromEntries(entries);
  const folder = place.workspace ?? terminal.folder;
  const problems = await problemsOf(servers, inputs, { environment: terminal.environment, folder });
  return { ...empty, path: place.path, servers, inputs: readInputs(inputs), hasOwnEntry, problems };
}

/** Lists the problems of servers in the common form, one line each. */
export async function problemsOf(
  servers: FoundClient["servers"],
  inputs: unknown,
  place: ClientPlace,
): Promise<readonly string[]> {
  const block = { mcpServers: servers, ...(inputs === undefined ? {} : { inputs }) };
  const { servers: read, problems } = await readClientConfig(block, place);
  return [
    ...problems.map(({ server, field, message }) => `${server}: ${field} ${message}`),
    ...read.flatMap(({ name, command, url }) => {
      if (command === undefined && url === undefined) return `${name}: the entry has neither command nor url`;
      return url === undefined || URL.canParse(url) ? [] : `${name}: url is ${showValue(url)}, which is not an address`;
    }),
  ];
}

/** opencode 2 nests its servers one level deeper, in `mcp.servers`. */
function serversPath(root: unknown, { style, path }: ClientFile): readonly string[] {
  const nested = entriesAt(root, [...path, "servers"]);
  return style === "opencode" && nested !== undefined && typeof nested["type"] !== "string"
    ? [...path, "servers"]
    : path;
}

/** Escapes references that the client does not expand. The server may expand `${NAME}` itself, like mcp-remote. */
function escaped(text: string, expands: ClientFile["expands"]): string {
  if (expands === "all") return text;
  if (expands === "nothing") return text.replaceAll("${", () => "$${");
  return text.replaceAll(
    /\$\{(?=[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\})(?!workspaceFolder|userHome|pathSeparator)/g,
    () => "$${",
  );
}
