import { basename, extname } from "node:path";
import type { JsonSchema } from "../../../tool/json-schema.ts";

/** The runtime of a file. */
export type Language = "node" | "python" | "bash";

/** A function of a source file, declared as a tool. */
export interface Declaration {
  /** Absolute path. */
  readonly file: string;
  readonly language: Language;
  readonly line: number;
  /** The function to call. */
  readonly entry: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** True if the function takes one object; false if it takes each field as a separate parameter. */
  readonly takesObject?: boolean;
}

/** One argument of a tool, or one property of an object in it. */
export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  /** Absent if the field has no default, or one that is not plain data. */
  readonly default?: unknown;
  readonly description?: string | undefined;
}

/** The reason why a file, or one of its functions, is not a tool. */
export interface ScriptProblem {
  readonly file: string;
  readonly line?: number;
  readonly reason: string;
}

/** The declarations in files of one language. */
export interface ReadScripts {
  readonly declarations: readonly Declaration[];
  readonly problems: readonly ScriptProblem[];
}

/** A function that cannot be declared as a tool. */
export class Undeclarable extends Error {
  readonly line: number;
  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

/** Names of functions that represent their file: the tool gets the file's name. */
const FILE_ENTRIES: ReadonlySet<string> = new Set(["run", "main", "default"]);

/** The tool's name: the function's, or the file's if the function represents it. */
export function toolName({ entry, file }: Pick<Declaration, "entry" | "file">): string {
  return FILE_ENTRIES.has(entry) ? basename(file, extname(file)) : entry;
}

/** The functions of a file that are tools: `run` (`main` in bash) alone if there is one, else every function that is not private. */
export function chosenEntries(entries: readonly string[], alone: "run" | "main" = "run"): readonly string[] {
  return entries.includes(alone) ? [alone] : entries.filter((entry) => !entry.startsWith("_"));
}

/** The JSON Schema of an object with these fields, the same whatever language declares them. */
export function toObjectSchema(fields: readonly Field[]): JsonSchema {
  const properties = fields.map((field) => {
    const description = withoutDefault(field);
    const fallback = "default" in field && { default: field.default };
    return [field.name, { ...field.schema, ...(description !== "" && { description }), ...fallback }];
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Docstrings often repeat the default as "(default: 10)". The schema already states it. */
function withoutDefault({ description = "", ...field }: Field): string {
  const text = oneLine(description);
  const start = "default" in field ? text.toLowerCase().lastIndexOf("(default") : -1;
  return start >= 0 && text.endsWith(")") ? text.slice(0, start).trimEnd() : text;
}

/** The text on one line. */
export function oneLine(text: string): string {
  return text.trim().split(/\s+/).join(" ");
}

/** One of these values. */
export function toEnum(values: readonly unknown[]): JsonSchema {
  const [first, ...others] = new Set(values.map(typeOf));
  const isNumber = values.every((value) => typeof value === "number");
  const type = others.length === 0 ? first : isNumber && "number";
  return { ...(type && { type }), enum: values };
}

/** The JSON Schema type of a value; undefined for null and objects. */
export function typeOf(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (Array.isArray(value)) return "array";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

/** Parses a text such as `10`, `0.5`, `true` or `"a b"` as a value of this schema. Undefined if it is not one. */
export function readLiteral(text: string, { type, items }: JsonSchema): unknown {
  const plain = unquote(text);
  switch (type) {
    case "string":
      return plain;
    case "integer":
    case "number": {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      return Number.isFinite(value) && (type === "number" || Number.isInteger(value)) ? value : undefined;
    }
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    default:
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return type === undefined && items === undefined ? plain : undefined;
      }
  }
}

/** The type of a literal: `10` is an integer, `10.0` a number, `true` a boolean, and anything else a string. */
export function literalSchema(text: string): JsonSchema {
  if (/^[+-]?\d+$/.test(text)) return { type: "integer" };
  if (text !== "" && /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text)))
    return { type: "number" };
  return { type: text === "true" || text === "false" ? "boolean" : "string" };
}

function unquote(text: string): string {
  const [first = ""] = text;
  return text.length > 1 && `"'\``.includes(first) && text.endsWith(first) ? text.slice(1, -1) : text;
}
