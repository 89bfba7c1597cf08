import { messageOf } from "../../errors/show-value.ts";
import { readFile } from "node:fs/promises";
import { readClientConfig, readInputs } from "../../config/clients/client-config.ts";
import type { ClientInput } from "../../config/clients/client-references.ts";
import { type JsoncNode, parseJsonc } from "../../config/clients/jsonc.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Terminal } from "../command.ts";
import { ENTRY_NAME } from "../arsenal/client-entries.ts";
import { type ClientFile, clientFiles } from "./client-files.ts";
import { mapTexts } from "./portable-entry.ts";

/** A server as a client's file has it. */
export type ServerEntry = Readonly<Record<string, unknown>>;

/** What one client's file has. */
export interface FoundClient extends ClientFile {
  /** Its servers, without our own entry. What the client would not replace is escaped: `$${NAME}`. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  /** What VS Code asks its user for. */
  readonly inputs: readonly ClientInput[];
  /** True when this program is among its servers already. */
  readonly hasOwnEntry: boolean;
  readonly problems: readonly string[];
}

/** Reads every client's file that is there and has servers, or should. */
export async function findClients(terminal: Terminal): Promise<readonly FoundClient[]> {
  const found = await Promise.all(clientFiles(terminal).map((place) => readClient(place, terminal)));
  return found.filter((client) => client !== undefined);
}

async function readClient(place: ClientFile, terminal: Terminal): Promise<FoundClient | undefined> {
  const text = await readFile(place.file, "utf8").catch(() => undefined);
  if (text === undefined || text.trim() === "") return undefined;
  const empty = { ...place, servers: {}, inputs: [], hasOwnEntry: false, problems: [] };
  let root: JsoncNode;
  try {
    root = parseJsonc(text, place.file);
  } catch (error) {
    // The second place in one file would say the same again.
    if (place.path.length > 1) return undefined;
    return { ...empty, problems: [messageOf(error)] };
  }
  const block = nodeAt(root, place.path)?.value;
  if (!isPlainObject(block)) return undefined;
  const hasOwnEntry = Object.hasOwn(block, ENTRY_NAME);
  const { [ENTRY_NAME]: _own, ...found } = block;
  const rest = mapTexts(found, (value) => escaped(value, place.expands)) as Record<string, unknown>;
  const entries = Object.entries(rest).filter((entry): entry is [string, ServerEntry] => isPlainObject(entry[1]));
  const inputs = isPlainObject(root.value) ? root.value["inputs"] : undefined;
  const { problems } = await readClientConfig(
    { mcpServers: rest, ...(inputs === undefined ? {} : { inputs }) },
    { environment: terminal.environment, folder: place.workspace ?? terminal.folder },
  );
  const servers = Object.fromEntries(entries);
  const told = problems.map(({ server, field, message }) => `${server}: ${field} ${message}`);
  return { ...empty, servers, inputs: readInputs(inputs), hasOwnEntry, problems: told };
}

/** A server may replace `${NAME}` itself, as mcp-remote does: what its client leaves alone must stay as it is. */
function escaped(text: string, expands: ClientFile["expands"]): string {
  if (expands === "all") return text;
  if (expands === "nothing") return text.replaceAll("${", () => "$${");
  return text.replaceAll(
    /\$\{(?=[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\})(?!workspaceFolder|userHome|pathSeparator)/g,
    () => "$${",
  );
}

/** The node that the keys lead to. */
export function nodeAt(root: JsoncNode, path: readonly string[]): JsoncNode | undefined {
  return path.reduce<JsoncNode | undefined>((node, key) => node?.members?.get(key), root);
}
