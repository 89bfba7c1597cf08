import { fixable } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import type { Document, YAMLMap, YAMLSeq } from "yaml";

type Entry = Readonly<Record<string, unknown>>;

const HEADER = "# yaml-language-server: $schema=./node_modules/toolarsenal/config.schema.json\n";
const STATE = { file: "./.toolarsenal/state.sqlite" };

/** Returns the text of a configuration with this server under `mcpServers`. Comments and all other content are kept. Throws CONFIG_INVALID. */
export async function withServer(
  existing: string | undefined,
  name: string,
  entry: Entry,
  file: string,
): Promise<string> {
  const { Document: NewDocument, isMap } = await import("yaml");
  const wide = { lineWidth: 0 };
  if (existing === undefined || existing.trim() === "")
    return HEADER + new NewDocument({ mcpServers: { [name]: entry }, state: STATE }).toString(wide);
  const document = await parsed(existing, file);
  if (!document.has("mcpServers")) {
    // Appended if possible, because rewriting the whole document would change its whitespace and quotes.
    const added = new NewDocument({ mcpServers: { [name]: entry } }).toString(wide);
    const appended = `${existing.trimEnd()}\n\n${added}`;
    if (document.contents === null || (isMap(document.contents) && document.contents.flow !== true)) return appended;
  }
  const servers = document.get("mcpServers");
  if (servers !== null && servers !== undefined && !isMap(servers)) {
    const fix = "Write each server under its name.";
    throw fixable("CONFIG_INVALID", `mcpServers in ${file} is not a mapping.`, fix, { field: "mcpServers" });
  }
  if (!isMap(servers)) document.set("mcpServers", document.createNode({ [name]: entry }));
  else {
    const held = servers.get(name);
    if (!isMap(held)) servers.set(name, document.createNode(entry));
    else replaceMembers(document, held, entry);
  }
  return document.toString(wide);
}

/** Members that describe the connection. They belong together, so they are replaced together. */
const CONNECTION: readonly string[] = "command args env envFile cwd url type headers".split(" ");

/** Replaces the members that `add` writes. Other members and comments are kept. */
function replaceMembers(document: Document, held: YAMLMap, entry: Entry): void {
  for (const key of CONNECTION) if (!Object.hasOwn(entry, key)) held.delete(key);
  for (const [key, value] of Object.entries(entry)) held.set(key, document.createNode(value));
}

export interface WrittenServer {
  readonly name: string;
  /** `mcpServers`, `servers`, `mcp.servers`, `arsenal.mcp_servers`, `sources`, `openapi` or `a2a.agents`. */
  readonly section: string;
}

const MAPPINGS: readonly (readonly string[])[] = [["mcpServers"], ["servers"]];
const LISTS: readonly (readonly string[])[] = [
  ["mcp", "servers"],
  ["arsenal", "mcp_servers"],
  ["sources"],
  ["openapi"],
  ["a2a", "agents"],
];

/** Lists the servers, APIs and agents that a configuration names. */
export async function serversIn(text: string, file: string): Promise<readonly WrittenServer[]> {
  const { isMap, isSeq } = await import("yaml");
  const document = await parsed(text, file);
  const mapped = MAPPINGS.flatMap((path) => {
    const node = document.getIn(path);
    return isMap(node) ? node.items.map(({ key }) => ({ name: String(key), section: path.join(".") })) : [];
  });
  const listed = LISTS.flatMap((path) => {
    const node = document.getIn(path);
    if (!isSeq(node)) return [];
    const names = node.items.map((item) => (isMap(item) ? (item.get("name") ?? item.get("type")) : undefined));
    return names.flatMap((name) => (name === undefined ? [] : [{ name: String(name), section: path.join(".") }]));
  });
  return [...mapped, ...listed];
}

/** Finds a server in a configuration. Throws INPUT_INVALID if there is none of that name. */
export async function findConfigured(text: string, name: string, file: string): Promise<WrittenServer> {
  const all = await serversIn(text, file);
  const found =
    all.find((each) => each.name === name) ?? all.find((each) => toNamespace(each.name) === toNamespace(name));
  if (found !== undefined) return found;
  const near = nearest(
    name,
    all.map((each) => each.name),
  );
  const names = all.map((each) => each.name).join(", ");
  const known = names === "" ? "It names no servers." : `It has ${names}.`;
  const fix = near === undefined ? known : `Did you mean ${showValue(near)}?`;
  throw fixable("INPUT_INVALID", `${file} has no server ${showValue(name)}.`, fix, { field: "NAME", value: name });
}

/** Returns the text of a configuration without a server, and the server's section. Comments and all other content are kept. Throws INPUT_INVALID. */
export async function withoutServer(
  text: string,
  name: string,
  file: string,
): Promise<{ readonly text: string; readonly section: string }> {
  const { isMap, isSeq } = await import("yaml");
  const found = await findConfigured(text, name, file);
  const document = await parsed(text, file);
  const path = found.section.split(".");
  const section = document.getIn(path) as YAMLMap | YAMLSeq;
  if (isMap(section)) section.delete(found.name);
  else if (isSeq(section)) {
    const at = section.items.findIndex(
      (item) => isMap(item) && String(item.get("name") ?? item.get("type")) === found.name,
    );
    section.delete(at);
  }
  if (section.items.length === 0) document.deleteIn(path);
  return { text: document.toString({ lineWidth: 0 }), section: found.section };
}

async function parsed(text: string, file: string): Promise<Document> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  const [broken] = document.errors;
  const isMapping = document.contents === null || isPlainObject(document.toJS());
  if (broken === undefined && isMapping) return document as unknown as Document;
  const reason = broken === undefined ? "it is not a mapping" : (broken.message.split("\n")[0] ?? "");
  throw fixable("CONFIG_INVALID", `${file} cannot be edited: ${reason}.`, "Fix the YAML first.", { field: file });
}
