import { fixable } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { MAX_PATTERN_LENGTH, starred } from "../../../../guard/pattern.ts";
import { asList, asRecord, isPlainObject } from "../../../../tool/json-schema.ts";
import type { JsonObject, References } from "./references.ts";
import type { OperationFilter } from "../settings.ts";

/** The methods that a path can have, in the order in which their operations are listed. */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"] as const;

/** One operation of a document. */
export interface Operation {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** Its name in messages, and without an operationId also in the catalog: `GET /pets/{id}`. */
  readonly title: string;
  readonly definition: JsonObject;
  /** The members that the operations of one path share. */
  readonly item: JsonObject;
}

/** A problem of an operation. */
export interface Problem {
  /** `GET /pets/{id}` */
  readonly operation: string;
  readonly reason: string;
  /** True if the operation did not become a tool; false if the tool lacks a part of it. */
  readonly skipped: boolean;
}

/** The wanted operations of a document, and the problems of those that cannot be read. */
export function listOperations(
  root: JsonObject,
  references: References,
  filters: { readonly include?: OperationFilter | undefined; readonly exclude?: OperationFilter | undefined },
): { readonly operations: readonly Operation[]; readonly problems: readonly Problem[] } {
  const included = filters.include === undefined ? () => true : createFilter(filters.include, "every", "include");
  const excluded = filters.exclude === undefined ? () => false : createFilter(filters.exclude, "some", "exclude");
  const operations: Operation[] = [];
  const problems: Problem[] = [];
  for (const [path, given] of Object.entries(asRecord(root["paths"]))) {
    if (path.startsWith("x-")) continue;
    try {
      const { $ref: _reference, ...own } = asRecord(given);
      const item = { ...references.follow(given, "the path"), ...own };
      for (const [method, definition] of methodsOf(item)) {
        const title = `${method} ${path}`;
        if (!isPlainObject(definition)) {
          problems.push({ operation: title, reason: "it is not an object", skipped: true });
          continue;
        }
        const operation: Operation = { method, path, title, definition, item };
        if (included(operation) && !excluded(operation)) operations.push(operation);
      }
    } catch (error) {
      problems.push({ operation: path, reason: messageOf(error), skipped: true });
    }
  }
  return { operations, problems };
}

function methodsOf(item: JsonObject): readonly (readonly [string, unknown])[] {
  const own = METHODS.flatMap((method) =>
    item[method] === undefined ? [] : [[method.toUpperCase(), item[method]] as const],
  );
  // Version 3.2 lets a document name methods of its own.
  return [...own, ...Object.entries(asRecord(item["additionalOperations"]))];
}

type Matches = (operation: Operation) => boolean;

const VALUES: Record<keyof OperationFilter, (operation: Operation) => readonly unknown[]> = {
  tags: ({ definition }) => asList(definition["tags"]),
  paths: ({ path }) => [path],
  methods: ({ method }) => [method],
  operationIds: ({ definition }) => [definition["operationId"]],
};

/** The most patterns in one list: each is compared with every operation. */
const MAX_PATTERNS = 500;

/** Longer tags, paths and ids are not compared: no document needs one, and comparing would take long. */
const MAX_COMPARED = 10_000;

/** `every`: each given list must match. `some`: one matching list is enough. */
function createFilter(filter: OperationFilter, rule: "every" | "some", field: string): Matches {
  const lists = Object.keys(VALUES) as (keyof OperationFilter)[];
  const matchers = lists.flatMap((list): Matches[] => {
    const patterns = filter[list];
    if (patterns === undefined) return [];
    checkPatterns(patterns, `${field}.${list}`);
    const compiled = patterns.map((pattern) => starred(pattern.toLowerCase()));
    return [
      (operation) =>
        VALUES[list](operation).some((value) => {
          if (typeof value !== "string") return false;
          if (value.length > MAX_COMPARED) throw new Error(tooLong(list, value));
          const text = value.toLowerCase();
          return compiled.some((matches) => matches(text));
        }),
    ];
  });
  return (operation) => matchers[rule]((matches) => matches(operation));
}

function tooLong(list: keyof OperationFilter, { length }: string): string {
  return `one of its ${list} has ${length} characters, and ${MAX_COMPARED} are compared at most`;
}

function checkPatterns(patterns: readonly string[], field: string): void {
  if (patterns.length > MAX_PATTERNS) {
    const problem = `${field} has ${patterns.length} patterns, and may have ${MAX_PATTERNS}.`;
    throw fixable("CONFIG_INVALID", problem, "Use * to match several with one pattern.", { field });
  }
  for (const [index, { length }] of patterns.entries()) {
    if (length <= MAX_PATTERN_LENGTH) continue;
    const problem = `${field}.${index} has ${length} characters, and a pattern may have ${MAX_PATTERN_LENGTH}.`;
    throw fixable("CONFIG_INVALID", problem, "Write a shorter pattern.", { field: `${field}.${index}` });
  }
}
