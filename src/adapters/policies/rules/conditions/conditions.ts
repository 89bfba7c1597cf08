import { matchPatterns, starred } from "../../../../guard/pattern.ts";
import type { Principal } from "../../../../guard/principal.ts";
import type { Tool } from "../../../../tool/tool.ts";
import type { CheckedRule, ListField } from "../document/document.ts";

export interface Condition<Subject> {
  readonly field: ListField;
  /** The list as written. */
  readonly wants: readonly string[];
  holds(subject: Subject): boolean;
}

export interface Caller {
  readonly principal: Principal;
  readonly toolset: string | undefined;
}

/** Lists that define the scope of a rule. Other lists are requirements. */
const REACH: ReadonlySet<ListField> = new Set(["tools", "namespaces", "sources", "toolsets", "tenants", "principals"]);

/** True if the condition defines the scope of a rule. In a policy that denies by default, tools outside every scope are hidden. */
export function isAboutReach({ field }: Condition<never>): boolean {
  return REACH.has(field);
}

/** Returns the conditions of a rule that depend only on the tool. `grants` is true for rules that permit calls. */
export function toolConditions({ lists }: CheckedRule, grants: boolean): readonly Condition<Tool>[] {
  return compile<Tool>(lists, {
    tools: (wanted) => {
      const match = matchPatterns(wanted, { field: "tools", grants });
      return (tool) => match(tool) !== undefined;
    },
    namespaces: (wanted) => on(wanted, "any case", ({ namespace }) => [namespace]),
    sources: (wanted) => on(wanted, "exact", ({ source }) => [source]),
    capabilities: (wanted) => on(wanted, "exact", ({ capabilities }) => capabilities),
    risk: (wanted) => on(wanted, "exact", ({ riskLevel }) => [riskLevel]),
    tags: (wanted) => on(wanted, "any case", ({ tags }) => tags),
  });
}

export function callerConditions({ lists }: CheckedRule): readonly Condition<Caller>[] {
  return compile<Caller>(lists, {
    toolsets: (wanted) => on(wanted, "exact", ({ toolset }) => (toolset === undefined ? [] : [toolset])),
    tenants: (wanted) => on(wanted, "exact", ({ principal: { tenant } }) => (tenant === undefined ? [] : [tenant])),
    principals: (wanted) => on(wanted, "exact", ({ principal }) => [principal.id]),
    roles: (wanted) => on(wanted, "exact", ({ principal }) => principal.roles),
  });
}

type Compilers<Subject> = Partial<Record<ListField, (wanted: readonly string[]) => (subject: Subject) => boolean>>;

function compile<Subject>(lists: CheckedRule["lists"], compilers: Compilers<Subject>): readonly Condition<Subject>[] {
  return Object.entries(compilers).flatMap(([key, compiler]) => {
    const field = key as ListField;
    const wants = lists[field];
    return wants === undefined ? [] : [{ field, wants, holds: compiler(wants) }];
  });
}

function on<Subject>(
  wanted: readonly string[],
  letters: "exact" | "any case",
  names: (subject: Subject) => readonly string[],
): (subject: Subject) => boolean {
  const fold = (text: string): string => (letters === "exact" ? text : text.toLowerCase());
  const exact = new Set(wanted.filter((name) => !name.includes("*")).map(fold));
  const patterns = wanted.filter((name) => name.includes("*")).map((name) => starred(fold(name)));
  const matches = (name: string): boolean => exact.has(name) || patterns.some((match) => match(name));
  return (subject) => names(subject).some((name) => matches(fold(name)));
}

/** The condition of a rule on one call. */
export interface When {
  readonly text: string;
  readonly usesArguments: boolean;
  readonly usesTime: boolean;
  /** The attributes of `tool` and `principal` in the expression that do not exist. */
  readonly unknown?: readonly UnknownAttribute[];
  /** Returns true if the condition holds. Never throws: a failure is reported and refuses the call. */
  evaluate(facts: Facts): boolean | Failure;
}

/** An attribute that does not exist, such as `principal.department`. */
export interface UnknownAttribute {
  readonly name: string;
  readonly fix: string;
}

interface Failure {
  readonly failed: string;
}

/** Attributes of a caller in expressions. */
export const PRINCIPAL_ATTRIBUTES = ["id", "tenant", "roles", "capabilities", "scopes", "local"] as const;

export interface Facts {
  readonly tool: Readonly<Record<string, unknown>>;
  readonly principal: Readonly<Record<(typeof PRINCIPAL_ATTRIBUTES)[number], unknown>>;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  now(): number;
}
