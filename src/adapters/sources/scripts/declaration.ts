import { basename, extname } from "node:path";
import type { JsonSchema } from "../../../tool/json-schema.ts";

/** The runtime of a file. */
export type Language = "node" | "python" | "bash";

/** A function in a source file that is a tool. */
export interface Declaration {
  /** Absolute path. */
  readonly file: string;
  readonly language: Language;
  readonly line: number;
  /** The name of the function. */
  readonly entry: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** True if the function takes one object. False if it takes each field as a separate parameter. */
  readonly takesObject?: boolean;
}

/** An argument of a tool, or a property of an object argument. */
export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  /** Omitted if the field has no default, or a default that is not plain data. */
  readonly default?: unknown;
  readonly description?: string | undefined;
}

/** Why a file or one of its functions is not a tool. */
export interface ScriptProblem {
  readonly file: string;
  readonly line?: number;
  readonly reason: string;
}

export interface ReadScripts {
  readonly declarations: readonly Declaration[];
  readonly problems: readonly ScriptProblem[];
}

/** Thrown for a function that cannot be a tool. */
export class Undeclarable extends Error {
  readonly line: number;
  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

/** Functions that represent their file. Their tool gets the file's name. */
const FILE_ENTRIES: ReadonlySet<string> = new Set(["run", "main", "default"]);

/** Returns the tool's name: the function's name, or the file's name if the function represents its file. */
export function toolName({ entry, file }: Pick<Declaration, "entry" | "file">): string {
  return FILE_ENTRIES.has(entry) ? basename(file, extname(file)) : entry;
}

/** Returns the functions of a file that are tools. This is only `run` (`main` in bash) if it exists, otherwise every public function. */
export function chosenEntries(entries: readonly string[], alone: "run" | "main" = "run"): readonly string[] {
  return entries.includes(alone) ? [alone] : entries.filter((entry) => !entry.startsWith("_"));
}

/** Returns the JSON Schema of an object with these fields. It is the same for every language. */
export function toObjectSchema(fields: readonly Field[]): JsonSchema {
  const properties = fields.map((field) => {
    const description = withoutDefault(field);
    const fallback = "default" in field && { default: field.default };
    return [field.name, { ...field.schema, ...(description !== "" && { description }), ...fallback }];
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Removes a default such as "(default: 10)" from a docstring, because the schema already has it. */
function withoutDefault({ description = "", ...field }: Field): string {
  const text = oneLine(description);
  const start = "default" in field ? text.toLowerCase().lastIndexOf("(default") : -1;
  return start >= 0 && text.endsWith(")") ? text.slice(0, start).trimEnd() : text;
}

export function oneLine(text: string): string {
  return text.trim().split(/\s+/).join(" ");
}

export function toEnum(values: readonly unknown[]): JsonSchema {
  const [first, ...others] = new Set(values.map(typeOf));
  const isNumber = values.every((value) => typeof value === "number");
  const type = others.length === 0 ? first : isNumber && "number";
  return { ...(type && { type }), enum: values };
}

/** Returns the JSON Schema type of a value; undefined for null and objects. */
export function typeOf(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (Array.isArray(value)) return "array";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

/** Parses a text such as `10`, `0.5`, `true` or `"a b"` by a schema. Undefined if the text does not fit. */
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

/** Returns the type of a literal: `10` is an integer, `10.0` a number, `true` a boolean, and anything else a string. */
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
