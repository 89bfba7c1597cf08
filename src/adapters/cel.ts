import { createRequire } from "node:module";
import type * as Cel from "@bufbuild/cel";
import type { RE2JS } from "re2js";
import { messageOf } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { re2 } from "./re2.ts";

/** The parts of the CEL library that policies and workflows use. */
export interface CelLibrary {
  readonly cel: typeof Cel;
  readonly environment: Cel.CelEnv;
  /** Compiles a pattern, once. Throws if it is invalid. */
  pattern(source: string): RE2JS;
  /** Converts a time in milliseconds since the epoch for comparison in expressions. */
  timestamp(ms: number): Cel.CelInput;
}

export interface CelNode {
  readonly id?: unknown;
  readonly exprKind?: { readonly case?: string | undefined; readonly value?: Readonly<Record<string, unknown>> };
}

/** Loads the library with the given additional functions. Patterns run in linear time. */
export function loadCel(functions: (cel: typeof Cel) => readonly Cel.CelFunc[] = () => []): CelLibrary {
  const cel = createRequire(import.meta.url)("@bufbuild/cel") as typeof Cel;
  // Patterns are literals in the documents, so there are few. Each is compiled once.
  const patterns = new Map<string, RE2JS>();
  const pattern = (source: string): RE2JS => {
    let known = patterns.get(source);
    if (known === undefined) patterns.set(source, (known = re2().compile(source)));
    return known;
  };
  const environment = cel.celEnv({ re2: { compile: pattern }, funcs: [strictDouble(cel), ...functions(cel)] });
  const toTimestamp = cel.plan(environment, cel.parse("timestamp(text)"));
  const timestamp = (ms: number): Cel.CelInput => {
    const value = toTimestamp({ text: new Date(ms).toISOString() });
    if (cel.isCelError(value)) throw value;
    return value;
  };
  return { cel, environment, pattern, timestamp };
}

/** The library converts a non-numeric text to NaN. A comparison with NaN is always false, so a rule that refuses would not apply. */
function strictDouble({ celFunc, CelScalar }: typeof Cel): Cel.CelFunc {
  return celFunc("double", [CelScalar.STRING], CelScalar.DOUBLE, (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw new Error("double: the text is not a number");
    return value;
  });
}

/** Counts brackets before parsing, which is recursive. Brackets in strings also count, so the result is an upper bound. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if ("([{".includes(character)) deepest = Math.max(deepest, ++depth);
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

/** Describes a parser's error with its position: ` at column 3: unexpected ")"`. */
export function syntaxProblem(error: unknown): string {
  const message = shortMessage(error).replace(/^<input>:\d+:\d+: /, "");
  const { start } =
    (error as { readonly location?: { readonly start?: { line: number; column: number } } }).location ?? {};
  // The library appends a list of everything that it would have accepted.
  const [, found] = /^found (.*?) but expecting/s.exec(message) ?? [];
  return placed(found === undefined ? message : `unexpected ${found}`, start);
}

/** Adds the position in the text to a problem. */
export function inPlace(message: string, text: string, offset: number | undefined): string {
  const before = text.slice(0, offset).split("\n");
  const start = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return placed(message, offset === undefined ? undefined : start);
}

function placed(message: string, start: { readonly line: number; readonly column: number } | undefined): string {
  if (start === undefined) return `: ${message}`;
  return ` at ${start.line === 1 ? "" : `line ${start.line}, `}column ${start.column}: ${message}`;
}

export function shortMessage(error: unknown): string {
  const message = messageOf(error);
  return message.length <= 200 ? message : `${message.slice(0, 199)}…`;
}

/** Converts plain data. The library's own map treats a key with null as missing, so `has(args.x)` would be false. */
export function toCelInput(value: unknown, cel: typeof Cel): Cel.CelInput {
  if (Array.isArray(value)) return value.map((member) => toCelInput(member, cel));
  // The library refuses values that are not JSON when an expression reads them.
  if (!isPlainObject(value)) return value as Cel.CelInput;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const map = cel.celMap(new Map(entries.map(([key, member]) => [key, toCelInput(member, cel)])));
  return Object.assign(map, { has: (key: Parameters<typeof map.has>[0]) => map.get(key) !== undefined });
}

/** Returns the text of a string literal; undefined for any other expression. */
export function literalText(node: CelNode | undefined): string | undefined {
  if (node?.exprKind?.case !== "constExpr") return undefined;
  const constant = node.exprKind.value?.["constantKind"] as { readonly case?: string; readonly value?: unknown };
  return constant.case === "stringValue" ? String(constant.value) : undefined;
}
