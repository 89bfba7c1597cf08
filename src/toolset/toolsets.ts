import { fixable } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit, EventMap } from "../observe/events.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { NAME_PATTERN, NAMESPACE_PATTERN } from "../tool/limits.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import { EVERY_TOOL, filterProblem, type FilteredTool, type ToolFilter, toPredicate } from "../tool/tool-filter.ts";
import { isUnlisted } from "../tool/tool.ts";
import { ACCESS_POLICY, MOST_CALLS, type Selection, type Toolset, type ToolsetDefinition } from "./toolset.ts";

/** The toolsets of one arsenal, by name. */
export interface Toolsets {
  /**
   * Adds a toolset, or replaces the toolset with that name. Returns it with timestamps. Throws CONFIG_INVALID if it is invalid, or if its calls must
   * be recorded and the arsenal has no audit log.
   */
  add(toolset: ToolsetDefinition): Toolset;
  /** Emits an event about tools of a toolset that are not in the catalog yet. */
  reportMissing(missing: EventMap["toolset-tools-missing"]): void;
  /** Returns false if no toolset has that name. */
  remove(name: string): boolean;
  /** Returns the toolset with that name, if the caller may use it. */
  find(name: string, principal: Principal): Toolset | undefined;
  /** Like `find`, but throws TOOLSET_NOT_FOUND. The error is the same for an unknown toolset and a toolset that the caller may not use. */
  get(name: string, principal: Principal): Toolset;
  /** Returns the toolsets that the caller may use, ordered by name. */
  list(principal: Principal): readonly Toolset[];
  /**
   * Returns whether a toolset contains a tool, for any caller. False for an unknown toolset, and for requests other than tool calls, such as
   * `files.resources/read`.
   */
  has(name: string, tool: FilteredTool): boolean;
  mustRecord(name: string): boolean;
  /** Registers a callback for added, replaced and removed toolsets. Returns a function that unsubscribes it. */
  watch(changed: (name: string) => void): () => void;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function createToolsets(options: {
  readonly initial: readonly ToolsetDefinition[];
  readonly clock: Pick<Clock, "now">;
  readonly emit: Emit;
  readonly recordsCalls: boolean;
  /** Returns whether the caller's tenant may use a toolset. Defaults to true. */
  readonly allows?: (name: string, principal: Principal) => boolean;
}): Toolsets {
  const { initial, clock, emit, recordsCalls, allows = () => true } = options;
  const known = new Map<string, { readonly toolset: Toolset; readonly matches: (tool: FilteredTool) => boolean }>();
  const watchers = new Set<(name: string) => void>();

  function add(given: ToolsetDefinition): Toolset {
    const { name } = given;
    refuseName(name);
    const problem = toolsetProblem(given);
    if (problem !== undefined) refuseToolset(name, problem);
    if (given.policy.auditLog === true && !recordsCalls) {
      const fix =
        "Set audit.file or audit.type in the configuration, or pass one: new ToolArsenal({ ...config, audit }).";
      const message = "is true, and the arsenal has no audit log";
      refuseToolset(name, { field: "policy.auditLog", value: true, message, fix });
    }
    const now = Math.round(clock.now());
    const createdAt = known.get(name)?.toolset.createdAt ?? now;
    const toolset: Toolset = { ...structuredClone(given), createdAt, updatedAt: now };
    known.set(name, { toolset, matches: toPredicate(toolset.filter) });
    for (const changed of watchers) changed(name);
    return toolset;
  }

  function find(name: string, principal: Principal): Toolset | undefined {
    const toolset = known.get(name)?.toolset;
    return toolset && admits(toolset, principal) && allows(name, principal) ? toolset : undefined;
  }

  const list = (principal: Principal): readonly Toolset[] =>
    Array.from(known.values(), ({ toolset }) => toolset)
      .filter((toolset) => admits(toolset, principal) && allows(toolset.name, principal))
      .sort((a, b) => (a.name < b.name ? -1 : 1));

  for (const definition of initial) add(definition);
  return {
    add,
    reportMissing: (missing) => emit("toolset-tools-missing", missing),
    remove(name) {
      const removed = known.delete(name);
      if (removed) for (const changed of watchers) changed(name);
      return removed;
    },
    find,
    get(name, principal) {
      const found = find(name, principal);
      if (found) return found;
      const names = list(principal).map((toolset) => toolset.name);
      const near = nearest(String(name), names);
      const fix =
        near !== undefined
          ? `Did you mean ${showValue(near)}?`
          : names.length === 0
            ? "None is defined for you: define it under toolsets in the configuration."
            : `Known toolsets: ${names.join(", ")}.`;
      const details = { field: "toolset", value: name };
      throw fixable("TOOLSET_NOT_FOUND", `There is no toolset ${showValue(name)}.`, fix, details);
    },
    list,
    has: (name, tool) => !isUnlisted(tool.id) && (known.get(name)?.matches(tool) ?? false),
    mustRecord: (name) => known.get(name)?.toolset.policy.auditLog === true,
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
  };
}

export interface ToolsetProblem {
  readonly field: string;
  readonly value?: unknown;
  readonly message: string;
  readonly fix: string;
}

export const NAME_FIX = "Use 1 to 64 lowercase letters, digits, hyphens or underscores, such as customer-acme.";

export function isToolsetName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name);
}

export function refuseName(name: unknown): void {
  if (isToolsetName(name)) return;
  const problem = `The toolset name ${showValue(name)} is invalid.`;
  throw fixable("CONFIG_INVALID", problem, NAME_FIX, { field: "name", value: name });
}

export function refuseToolset(name: string, { field, value, message, fix }: ToolsetProblem): never {
  const details = { field, ...(value === undefined ? {} : { value }) };
  throw fixable("CONFIG_INVALID", `Toolset ${showValue(name)}: ${field} ${message}.`, fix, details);
}

/** Returns the first problem of a toolset, except of its name; undefined if it is valid. */
function toolsetProblem(toolset: ToolsetDefinition): ToolsetProblem | undefined {
  const { description, tags, owner, filter, view, policy } = toolset;
  return (
    textProblem("description", description) ??
    (owner === undefined ? undefined : textProblem("owner", owner)) ??
    (Array.isArray(tags) && tags.length === 0 ? undefined : textsProblem("tags", tags)) ??
    filterProblem(filter, "filter") ??
    (view === "live" || view === "frozen"
      ? undefined
      : { field: "view", value: view, message: `is ${showValue(view)}`, fix: "Use live or frozen." }) ??
    policyProblem(policy)
  );
}

export function textProblem(field: string, value: unknown): ToolsetProblem | undefined {
  if (typeof value === "string") return undefined;
  return { field, value, message: `is not a string: ${showValue(value)}`, fix: "Pass a string." };
}

export function textsProblem(field: string, values: unknown): ToolsetProblem | undefined {
  if (!Array.isArray(values))
    return { field, value: values, message: `is not a list of strings: ${showValue(values)}`, fix: "Use a list." };
  if (values.length === 0) return { field, value: values, message: "is empty", fix: "Name at least one." };
  const odd: unknown = values.find((each) => typeof each !== "string" || each.trim() === "");
  if (odd === undefined && !values.includes(undefined)) return undefined;
  return { field, value: odd, message: `has ${showValue(odd)}, which is not a string`, fix: "Pass each as a string." };
}

export function idsProblem(field: string, ids: unknown): ToolsetProblem | undefined {
  const problem = textsProblem(field, ids);
  if (problem !== undefined) return problem;
  const odd = (ids as readonly string[]).find((id) => {
    const dot = id.lastIndexOf(".");
    return !NAMESPACE_PATTERN.test(id.slice(0, Math.max(0, dot))) || !NAME_PATTERN.test(id.slice(dot + 1));
  });
  if (odd === undefined) return undefined;
  const fix = "An id is namespace.name, such as billing.refund_user; toolarsenal list shows them.";
  return { field, value: odd, message: `has ${showValue(odd)}, which is not an id`, fix };
}

const POLICY_KEYS = Object.keys(ACCESS_POLICY.properties);

/** Returns the problem of an access policy. Unknown keys are refused, because a misspelled key would open the toolset to every caller. */
export function policyProblem(policy: unknown): ToolsetProblem | undefined {
  if (!isPlainObject(policy))
    return { field: "policy", value: policy, message: `is not an object: ${showValue(policy)}`, fix: "Pass { … }." };
  for (const [key, value] of Object.entries(policy)) {
    const field = `policy.${key}`;
    if (value === undefined) continue;
    if (!POLICY_KEYS.includes(key)) {
      const near = nearest(key, POLICY_KEYS);
      const fix = near === undefined ? `Known: ${POLICY_KEYS.join(", ")}.` : `Did you mean ${near}?`;
      return { field, value, message: "is unknown", fix };
    }
    if (key === "auditLog" && typeof value !== "boolean")
      return { field, value, message: `is not true or false: ${showValue(value)}`, fix: "Use true or false." };
    if (key === "rateLimit") {
      const calls: unknown = isPlainObject(value) ? value["requestsPerMinute"] : value;
      if (Number.isInteger(calls) && Number(calls) >= 1 && Number(calls) <= MOST_CALLS) continue;
      const message = `is not a whole number from 1 to ${MOST_CALLS}: ${showValue(calls)}`;
      return { field: `${field}.requestsPerMinute`, value: calls, message, fix: "Use { requestsPerMinute: 60 }." };
    }
    if (key.startsWith("allowed")) {
      if (Array.isArray(value) && value.length === 0) {
        const fix = "List the callers who may use it, or omit it to admit everyone.";
        return { field, value, message: "is empty, so no caller could use it", fix };
      }
      const problem = textsProblem(field, value);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

export function toFilter({ namespaces, tags, tools, categories, sources, where, exclude }: Selection): ToolFilter {
  const conditions: ToolFilter[] = [];
  if (namespaces !== undefined) conditions.push({ namespaces: namespaces.map(toNamespace) });
  if (tags !== undefined) conditions.push({ tags });
  if (tools !== undefined) conditions.push({ ids: tools });
  if (categories !== undefined) conditions.push({ categories });
  if (sources !== undefined) conditions.push({ sources });
  if (where !== undefined) conditions.push(where);
  if (exclude !== undefined) conditions.push({ not: { ids: exclude } });
  const [only = EVERY_TOOL, ...others] = conditions;
  return others.length === 0 ? only : { all: conditions };
}

/** Returns whether a caller may use a toolset. The local operator, who sees the whole catalog anyway, and the owner always may. */
function admits({ owner, policy }: Pick<Toolset, "owner" | "policy">, principal: Principal): boolean {
  if (principal.local || (owner !== undefined && principal.id === owner)) return true;
  const { allowedTenants, allowedRoles } = policy;
  if (allowedTenants && !(principal.tenant !== undefined && allowedTenants.includes(principal.tenant))) return false;
  return allowedRoles === undefined || principal.roles.some((role) => allowedRoles.includes(role));
}
