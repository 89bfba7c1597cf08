import { fixable } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { MAX_PATTERN_LENGTH, starred } from "../../../../guard/pattern.ts";
import { asList, asRecord, isPlainObject } from "../../../../tool/json-schema.ts";
import type { JsonObject, References } from "./references.ts";
import type { OperationFilter } from "../settings.ts";

/** HTTP methods, in the order in which a path's operations are listed. */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"] as const;

export interface Operation {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** The name in messages: `GET /pets/{id}`. Without an operationId, also the name in the catalog. */
  readonly title: string;
  readonly definition: JsonObject;
  /** The path item, which the operations of one path share. */
  readonly item: JsonObject;
}

export interface Problem {
  /** `GET /pets/{id}` */
  readonly operation: string;
  readonly reason: string;
  /** True if the operation is not a tool. False if the tool only lacks a part of the operation. */
  readonly skipped: boolean;
}

/** Returns the selected operations of a document, and the problems of unreadable ones. */
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
  // In version 3.2, a document can name other methods.
  return [...own, ...Object.entries(asRecord(item["additionalOperations"]))];
}

type Matches = (operation: Operation) => boolean;

const VALUES: Record<keyof OperationFilter, (operation: Operation) => readonly unknown[]> = {
  tags: ({ definition }) => asList(definition["tags"]),
  paths: ({ path }) => [path],
  methods: ({ method }) => [method],
  operationIds: ({ definition }) => [definition["operationId"]],
};

/** The most patterns in one list. Each pattern is compared with every operation. */
const MAX_PATTERNS = 500;

/** Longer tags, paths and ids are not compared, to limit the time. No document needs them. */
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
  return `one of its ${list} has ${length} characters; the limit is ${MAX_COMPARED}`;
}

function checkPatterns(patterns: readonly string[], field: string): void {
  if (patterns.length > MAX_PATTERNS) {
    const problem = `${field} has ${patterns.length} patterns; the limit is ${MAX_PATTERNS}.`;
    throw fixable("CONFIG_INVALID", problem, "Use * to match several with one pattern.", { field });
  }
  for (const [index, { length }] of patterns.entries()) {
    if (length <= MAX_PATTERN_LENGTH) continue;
    const problem = `${field}.${index} has ${length} characters, and a pattern may have ${MAX_PATTERN_LENGTH}.`;
    throw fixable("CONFIG_INVALID", problem, "Write a shorter pattern.", { field: `${field}.${index}` });
  }
}
