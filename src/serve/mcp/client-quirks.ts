import { sha256 } from "../../base/crypto.ts";
import type { JsonObject } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Peer } from "./plane.ts";

/** Limits of one client that its users cannot change. */
export interface ClientQuirks {
  /** Maximum length of a tool's name. Clients add the server's name, which `setup` sets to `toolarsenal`, and refuse or hide longer names. */
  readonly maxNameLength?: number;
  /** Names may contain only letters, digits and `_`. */
  readonly plainNames?: true;
  /** Maximum number of tools that the client passes to its model. With more tools, the client drops some, or every request fails. */
  readonly maxTools?: number;
  /** The client refuses a tool if the schema of a list has no `items`. */
  readonly listsNeedItems?: true;
  /** The client reads the list only once and ignores `notifications/tools/list_changed`. */
  readonly listsOnce?: true;
}

const NONE: ClientQuirks = {};

/** The clients by the name that they send in `initialize`, in lower case. Decision 029 documents the source of each limit. */
const QUIRKS: Readonly<Record<string, ClientQuirks>> = {
  // "toolarsenal:NAME" must have fewer than 60 characters; only the first 40 tools are used.
  "cursor-vscode": { maxNameLength: 47, maxTools: 40 },
  // Requests with more than 128 tools fail; this includes the client's own tools.
  "visual studio code": { maxTools: 100, listsNeedItems: true },
  "visual studio code - insiders": { maxTools: 100, listsNeedItems: true },
  // 100 tools for all servers together.
  "windsurf-client": { maxTools: 100 },
  // "mcp__toolarsenal__NAME" may have 64 characters.
  "claude-ai": { maxNameLength: 46, listsOnce: true },
  "claude-code": { maxNameLength: 46, listsOnce: true },
  "codex-mcp-client": { maxNameLength: 46, listsOnce: true },
  // "mcp_toolarsenal_NAME" may have 63 characters; longer names are cut in the middle.
  "gemini-cli-mcp-client": { maxNameLength: 47 },
  // Amazon Q and Kiro: "toolarsenal___NAME" may have 64 characters and must start with a letter.
  "q dev cli": { maxNameLength: 50, plainNames: true },
};

export const QUIRKY_CLIENTS: readonly string[] = Object.keys(QUIRKS);

const BRIDGE = " (via mcp-remote";

/** Returns the quirks of a client by its name. `mcp-remote` adds its own name to the name of the client behind it. */
export function quirksOf({ info }: Pick<Peer, "info">): ClientQuirks {
  const name = info?.["name"];
  if (typeof name !== "string") return NONE;
  const own = (name.includes(BRIDGE) ? name.replace(/ \(via mcp-remote[^)]*\)$/, "") : name).toLowerCase();
  return Object.hasOwn(QUIRKS, own) ? (QUIRKS[own] ?? NONE) : NONE;
}

const HASH_DIGITS = 8;
const FITTED = new RegExp(`_[0-9a-f]{${HASH_DIGITS}}$`);
const PLAIN = /^[A-Za-z][A-Za-z0-9_]*$/;

/**
 * Returns the name of a tool for a client. A name that the client cannot use is changed and ends in a hash of the original name, so that it stays
 * unique.
 */
export function fittedName(name: string, { maxNameLength = Infinity, plainNames }: ClientQuirks): string {
  if (name.length <= maxNameLength && (plainNames === undefined || PLAIN.test(name))) return name;
  const plain =
    plainNames === undefined ? name : name.replaceAll(/[^A-Za-z0-9_]+/g, "_").replace(/^(?=[^A-Za-z])/, "t");
  const room = Math.min(maxNameLength, name.length + HASH_DIGITS + 1) - HASH_DIGITS - 1;
  return `${plain.slice(0, room)}_${sha256(name).slice(0, HASH_DIGITS)}`;
}

/** Returns true for a name that `fittedName` may have rewritten. */
export function isFitted(name: string, { maxNameLength, plainNames }: ClientQuirks): boolean {
  return (maxNameLength !== undefined || plainNames === true) && FITTED.test(name);
}

/** Adapts a listed tool to the limits of a client. Returns the same object if no change is needed. */
export function fittedTool(tool: JsonObject, quirks: ClientQuirks): JsonObject {
  const name = fittedName(String(tool["name"]), quirks);
  const { inputSchema } = tool;
  const fitted = quirks.listsNeedItems === true ? withItems(inputSchema) : inputSchema;
  return name === tool["name"] && fitted === inputSchema ? tool : { ...tool, name, inputSchema: fitted };
}

/** Keywords of a schema that contain values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples"]);

function withItems(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    const items = schema.map(withItems);
    return items.every((item, index) => item === schema[index]) ? schema : items;
  }
  if (!isPlainObject(schema)) return schema;
  const members = Object.entries(schema).map(
    ([key, value]) => [key, VALUES.has(key) ? value : withItems(value)] as const,
  );
  const isList = [schema["type"]].flat().includes("array");
  const isMissing = isList && schema["items"] === undefined;
  if (!isMissing && members.every(([key, value]) => value === schema[key])) return schema;
  return { ...Object.fromEntries(members), ...(isMissing && { items: {} }) };
}
