import { knownMembers } from "../../../config/clients/client-config.ts";
import { asRecord, asTexts } from "../../../tool/json-schema.ts";
import { toName, toNamespace } from "../../../tool/normalise/slug.ts";
import type { ToolFilter } from "../../../tool/tool-filter.ts";
import type { ClientToolset } from "../edit-files.ts";
import type { ServerEntry } from "../entry-styles.ts";

/** A setting of another program that setup does not write. */
export interface LeftOut {
  /** The path from the root of the file, with dots: `mcpServers.github.dev`. */
  readonly field: string;
  readonly reason: string;
  /** The user's next step. */
  readonly instead: string;
}

/** The settings that setup reads from another gateway's file. */
export interface CarriedSettings {
  /** The servers in the common form: `command`, `args`, `env`, `url`, `headers`. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  /** Toolsets for groups and tags of servers. */
  readonly toolsets: readonly ClientToolset[];
  /** Ids of disabled tools. */
  readonly denied: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** A type of file that `setup --from` reads. */
export interface FromKind {
  /** The program's name, as people write it. */
  readonly title: string;
  /** Returns whether a parsed file has keys that only this type uses. */
  isLike(root: Readonly<Record<string, unknown>>): boolean;
  carry(root: Readonly<Record<string, unknown>>, file: string): CarriedSettings;
}

/** Why a setting is not written, and the user's next step. */
export type Reason = readonly [reason: string, instead: string];

const UNKNOWN: Reason = ["ToolArsenal has no such setting", "Nothing to do, unless you relied on it."];

const ALLOWANCE: Reason = [
  "permissions are the policy's, not a server's",
  "Allow tools under security: allow: in arsenal.yaml.",
];

const SHARED: Readonly<Record<string, Reason>> = {
  alwaysAllow: ALLOWANCE,
  autoApprove: ALLOWANCE,
  trust: ALLOWANCE,
  name: ["a server is named by its key", "Nothing to do."],
  description: ["descriptions come from the server", "Nothing to do."],
};

/** Lists the members of an object that setup cannot write, each with its reason. `isCarried` accepts the others. */
export function leftOutOf(
  path: string,
  members: Readonly<Record<string, unknown>>,
  reasons: Readonly<Record<string, Reason>>,
  isCarried: (key: string) => boolean = () => false,
): readonly LeftOut[] {
  return Object.keys(members)
    .filter((key) => !isCarried(key))
    .map((key) => {
      const [reason, instead] = reasons[key] ?? SHARED[key] ?? UNKNOWN;
      return { field: path === "" ? key : `${path}.${key}`, reason, instead };
    });
}

/** Lists the members of a server's entry that setup cannot write. */
export function leftOutOfEntry(
  path: string,
  entry: ServerEntry,
  reasons: Readonly<Record<string, Reason>>,
): readonly LeftOut[] {
  const known = knownMembers(entry);
  return leftOutOf(path, entry, reasons, (key) => Object.hasOwn(known, key));
}

/** Returns the servers of a file: under `mcpServers`, or under `servers` as in VS Code. */
export function serversOf(root: Readonly<Record<string, unknown>>): {
  readonly key: string;
  readonly entries: readonly (readonly [string, ServerEntry])[];
} {
  const key = root["mcpServers"] === undefined && root["servers"] !== undefined ? "servers" : "mcpServers";
  const entries = Object.entries(asRecord(root[key])).map(([name, entry]) => [name, asRecord(entry)] as const);
  return { key, entries };
}

/** Returns whether one of the file's servers has one of these members. */
export function hasMember(root: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return serversOf(root).entries.some(([, entry]) => keys.some((key) => Object.hasOwn(entry, key)));
}

/** Returns the id of a server's tool: `github.create_issue`. */
export function toolId(server: string, tool: string): string {
  return `${toNamespace(server)}.${toName(tool)}`;
}

/** Converts the name of a group or tag to the name of a toolset: 1 to 64 lowercase letters, digits, hyphens or underscores. */
function toolsetName(given: string): string {
  const name = toNamespace(given).replaceAll(".", "-").slice(0, 64);
  return name.replaceAll(/^[-_]+|[-_]+$/g, "") || "group";
}

/** A group of servers. If the group contains only some tools of a server, `tools` has their ids. */
export interface Group {
  readonly name: string;
  readonly description: string;
  readonly servers: readonly string[];
  readonly tools: readonly string[];
}

/** Converts groups to toolsets. Omits groups without servers. */
export function toToolsets(groups: readonly Group[]): readonly ClientToolset[] {
  const names = new Set<string>();
  return groups.flatMap(({ name: given, description, servers, tools }) => {
    const conditions: ToolFilter[] = [];
    if (servers.length > 0) conditions.push({ ensembles: servers.map(toNamespace) });
    if (tools.length > 0) conditions.push({ ids: tools });
    const [where, second] = conditions;
    if (where === undefined) return [];
    const wanted = toolsetName(given);
    let name = wanted;
    for (let count = 2; names.has(name); count++) name = `${wanted.slice(0, 60)}-${count}`;
    names.add(name);
    return [{ name, description, include: { where: second === undefined ? where : { any: conditions } } }];
  });
}

/** Returns the ids of a server's tools that a list of names disables. */
export function deniedTools(server: string, names: unknown): readonly string[] {
  return asTexts(names).map((name) => toolId(server, name));
}
