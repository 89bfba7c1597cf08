import { isPlainObject } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import { programName } from "./names.ts";

/** Deeper types and longer unions are written as `unknown`, because a model needs only the outline. */
const MAX_DEPTH = 5;
const MOST_CHOICES = 24;
const MOST_MEMBERS = 60;
const DESCRIPTION = 140;

type Schema = Readonly<Record<string, unknown>>;

/** Returns the TypeScript type of a schema. `notes` adds the descriptions of members. */
export function typeOf(schema: unknown, options: { readonly notes?: boolean; readonly root?: unknown } = {}): string {
  return write(schema, { notes: options.notes === true, root: options.root ?? schema }, 0);
}

interface Context {
  readonly notes: boolean;
  readonly root: unknown;
}

function write(schema: unknown, context: Context, depth: number): string {
  if (!isPlainObject(schema) || depth > MAX_DEPTH) return "unknown";
  const { $ref: reference, const: fixed, enum: choices, type } = schema;
  if (typeof reference === "string") return write(resolve(reference, context.root), context, depth + 1);
  if (fixed !== undefined) return literal(fixed);
  if (Array.isArray(choices)) return choices.length <= MOST_CHOICES ? union(choices.map(literal)) : "string";
  for (const key of ["anyOf", "oneOf"] as const)
    if (Array.isArray(schema[key])) return union(schema[key].map((each) => write(each, context, depth + 1)));
  if (Array.isArray(schema["allOf"])) {
    const parts = schema["allOf"].map((each) => write(each, context, depth + 1)).filter((each) => each !== "unknown");
    return parts.length === 0 ? "unknown" : parts.join(" & ");
  }
  if (Array.isArray(type)) return union(type.map((each) => write({ ...schema, type: each }, context, depth + 1)));
  switch (type) {
    case "string":
      return "string";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return list(write(schema["items"], context, depth + 1));
    default:
      return type === "object" || isPlainObject(schema["properties"]) ? object(schema, context, depth) : "unknown";
  }
}

function object(schema: Schema, context: Context, depth: number): string {
  const { properties, required, additionalProperties: others } = schema;
  const members = isPlainObject(properties) ? Object.entries(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  if (members.length === 0)
    return isPlainObject(others) ? `Record<string, ${write(others, context, depth + 1)}>` : "Record<string, unknown>";
  const written = members.slice(0, MOST_MEMBERS).map(([name, member]) => {
    const note = context.notes ? noteOf(member) : "";
    return `${note}${key(name)}${needed.has(name) ? "" : "?"}: ${write(member, context, depth + 1)}`;
  });
  if (members.length > MOST_MEMBERS) written.push("[more: string]: unknown");
  return `{ ${written.join("; ")} }`;
}

function noteOf(member: unknown): string {
  const description = isPlainObject(member) ? member["description"] : undefined;
  return typeof description === "string" && description !== "" ? `/** ${short(description)} */ ` : "";
}

/** Returns the first sentence of a description, without characters that would end a comment. */
export function short(description: string, most: number = DESCRIPTION): string {
  const text = description.replace(/\s+/g, " ").replaceAll("*/", "* /").trim();
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence.length <= most ? sentence : `${sentence.slice(0, most - 1)}…`;
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const literal = (value: unknown): string => JSON.stringify(value) ?? "unknown";
const list = (item: string): string => (/^[\w.]+$|^\{[^|&]*\}$/.test(item) ? `${item}[]` : `Array<${item}>`);
const union = (types: readonly string[]): string => [...new Set(types)].join(" | ") || "unknown";

function resolve(reference: string, root: unknown): unknown {
  let found: unknown = root;
  if (!reference.startsWith("#")) return undefined;
  for (const step of reference.slice(1).split("/").slice(1))
    found = isPlainObject(found)
      ? found[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")]
      : undefined;
  return found;
}

/** Returns the type of a tool's arguments; empty if the tool takes none. */
function argumentsOf({ parameters }: Pick<Tool, "parameters">, notes: boolean): string {
  const { properties, required } = parameters as Schema;
  if (!isPlainObject(properties) || Object.keys(properties).length === 0) return "";
  const isOptional = !Array.isArray(required) || required.length === 0;
  return `args${isOptional ? "?" : ""}: ${typeOf(parameters, { notes })}`;
}

/** Returns one line for a list of tools: the call and a short description. */
export function signatureOf(tool: Tool, result: string | undefined): string {
  const returns = result === undefined || result.length > 160 ? "" : `: ${result}`;
  return `${programName(tool)}(${argumentsOf(tool, false)})${returns} — ${short(tool.description, 100)}`;
}

/** Returns the declaration of a tool, with the type of its result if that is known. */
export function declarationOf(tool: Tool, result: string | undefined): string {
  const description = tool.description.replace(/\s+/g, " ").replaceAll("*/", "* /").trim();
  return `/** ${description} */\ndeclare function ${programName(tool)}(${argumentsOf(tool, true)}): Promise<${result ?? "unknown"}>;`;
}
