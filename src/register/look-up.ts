import { nearest, showValue } from "../errors/show-value.ts";
import { toName } from "../tool/normalise/slug.ts";
import { qualifiedName, type Tool } from "../tool/tool.ts";

/** Converts ids to names for models, and back. */
export interface AliasSpelling {
  readonly toAlias: (id: string) => string;
  /** Returns the id; undefined if the alias was shortened. */
  readonly fromAlias: (alias: string) => string | undefined;
  /** Returns true for a shortened alias, from which the id cannot be read. */
  readonly isCutAlias: (alias: string) => boolean;
}

/** Returns the spellings that a lookup of a name uses, so that the caller can load their tools beforehand. */
export function spellingsOf(name: string): {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly aliases: readonly string[];
} {
  const given = [...new Set([name, divideVersion(name).base])];
  const ids = new Set(given);
  const names = new Set(given);
  for (const each of given) {
    const dot = each.lastIndexOf(".");
    const bare = toName(each.slice(dot + 1));
    names.add(toName(each)).add(bare);
    if (dot >= 0) ids.add(`${each.slice(0, dot)}.${bare}`);
  }
  return { ids: [...ids], names: [...names], aliases: given };
}

export interface LookUpParts {
  readonly current: (id: string) => Tool | undefined;
  /** Returns the tool with this alias for models. Omitted if tools have no aliases. */
  readonly aliased?: (alias: string) => Tool | undefined;
  /** Returns the tools with this bare name, in any namespace. */
  readonly named: (name: string) => readonly Tool[];
  /** Returns true for tools that the caller may see. Defaults to every tool. */
  readonly sees?: ((tool: Tool) => boolean) | undefined;
  /** Returns the tools that another spelling of a name may mean. Defaults to none. */
  readonly respelled?: () => Iterable<Tool>;
}

const everything = (): boolean => true;

/** Returns the one tool that a name refers to: by id, by qualified name with the right version, by alias, or by a bare name that only one tool has. */
export function lookUp(name: string, parts: LookUpParts): Tool | undefined {
  const exact = meant(name, parts);
  if (exact.length > 0) return only(exact);
  const { base, version } = divideVersion(name);
  if (version === undefined) return looselyMeant(name, parts.respelled?.() ?? [], parts.sees);
  return only(meant(base, parts).filter((tool) => tool.version === version));
}

/** Returns the one tool whose id, or else whose name, has the same letters and digits: `Git_Hub.Search` and `git--hub-search` mean `git-hub.search`. */
export function looselyMeant(
  name: string,
  tools: Iterable<Tool>,
  sees: (tool: Tool) => boolean = everything,
): Tool | undefined {
  const given = lettersOf(name.slice(0, LONGEST_NAME));
  // Surfaces use a leading dot for names that no tool can have.
  if (given === "" || name.startsWith(".")) return undefined;
  const visible = [...tools].filter(sees);
  const sameId = visible.filter(({ id }) => lettersOf(id) === given);
  if (sameId.length > 0) return only(sameId);
  return only(visible.filter((tool) => lettersOf(tool.name) === given || lettersOf(tool.sourceName) === given));
}

/** The maximum length of a tool id. */
const LONGEST_NAME = 300;

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

interface ExplainParts extends LookUpParts {
  readonly all: Iterable<Tool>;
  readonly toAlias?: ((id: string) => string) | undefined;
}

/** Explains why `lookUp` found nothing, and suggests a tool. The caller sees the text, so it names only tools that `sees` accepts. */
export function explainMissing(name: string, parts: ExplainParts): string {
  const shown = showValue(name, 130);
  const { base, version } = divideVersion(name);
  const candidates = meant(base, parts);
  const sameVersion = version === undefined ? candidates : candidates.filter((tool) => tool.version === version);
  if (sameVersion.length > 1)
    return `${shown} is the name of ${sameVersion.length} tools. Call it by its id: ${list(sameVersion.map(({ id }) => id))}.`;
  if (candidates.length > 0 && sameVersion.length === 0)
    return `No tool ${shown} is registered: the registered version is ${list(candidates.map(qualifiedName))}.`;
  const near = nearestTool(base, parts);
  const hint =
    near === undefined ? "Search for a tool that does the job, and call it by its id." : `Did you mean "${near}"?`;
  return `No tool ${shown} is registered. ${hint}`;
}

/** Returns the visible tools that a name without version can mean. An id or an alias means one tool, even if other tools have that name. */
function meant(name: string, { current, aliased, named, sees = everything }: LookUpParts): readonly Tool[] {
  for (const tool of [current(name), aliased?.(name)]) if (tool !== undefined && sees(tool)) return [tool];
  const sameName = named(name).filter(sees);
  return sameName.length > 0 ? sameName : asWritten(name, { current, named }).filter(sees);
}

/** Returns the tools whose names a person may have written this way: `getWeather` and `weather.getWeather` both mean `get_weather`. */
function asWritten(name: string, { current, named }: Pick<LookUpParts, "current" | "named">): readonly Tool[] {
  const dot = name.lastIndexOf(".");
  const bare = name.slice(dot + 1);
  const inNamespace = dot < 0 ? undefined : current(`${name.slice(0, dot)}.${toName(bare)}`);
  if (inNamespace?.sourceName === bare) return [inNamespace];
  return named(toName(name)).filter(({ sourceName }) => sourceName === name);
}

const only = (tools: readonly Tool[]): Tool | undefined => (tools.length === 1 ? tools[0] : undefined);

/** Neither namespaces nor names contain colons, so the last colon precedes the version. */
function divideVersion(name: string): { readonly base: string; readonly version: string | undefined } {
  const colon = name.lastIndexOf(":");
  if (colon < 0) return { base: name, version: undefined };
  return { base: name.slice(0, colon), version: name.slice(colon + 1) };
}

/** Returns the id of the tool whose id, alias or bare name is most similar to the name. Compares with the form that the caller seems to have used. */
function nearestTool(name: string, parts: ExplainParts): string | undefined {
  const { sees = everything, all, toAlias } = parts;
  // Longer names do not exist, and the comparison would take long.
  if (name.length > 300) return undefined;
  const ids = new Map<string, string>();
  for (const tool of all) {
    if (!sees(tool)) continue;
    if (name.includes(".")) ids.set(tool.id, tool.id);
    else if (name.includes("-") && toAlias) ids.set(toAlias(tool.id), tool.id);
    else ids.set(tool.name, tool.id);
  }
  const near = nearest(name, ids.keys());
  return near === undefined ? undefined : ids.get(near);
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`);
  return names.length > 5 ? `${shown.join(", ")} and ${names.length - 5} more` : shown.join(", ");
}
