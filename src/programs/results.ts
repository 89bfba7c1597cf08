import { setNewest } from "../base/remember.ts";
import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import type { Principal } from "../guard/principal.ts";
import type { Tool } from "../tool/tool.ts";
import { writeData } from "../tool/schema/plain-data.ts";
import { parseForeign } from "../base/json/json-text.ts";
import { typeOf } from "./declarations.ts";

/**
 * Converts the result of a call for the program: the structured content of an MCP server's answer, or its text, parsed if it is JSON. The outputs of
 * other tools are not changed.
 */
export function toProgramValue(result: unknown): unknown {
  if (!isPlainObject(result) || !Array.isArray(result["content"])) return result;
  const { structuredContent, content } = result;
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent;
  const texts = content.map((block) => (isPlainObject(block) && block["type"] === "text" ? block["text"] : undefined));
  if (texts.length !== 1 || typeof texts[0] !== "string") return content;
  const text = texts[0];
  return /^\s*[[{]/.test(text) ? (parseForeign(text) ?? text) : text;
}

/** Returns JSON text for the program. A value that JSON cannot express becomes a string. */
export function toProgramText(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  return writeData(result)?.text ?? JSON.stringify(String(result));
}

/** Maximum number of remembered result types, over all callers. */
const MOST_LEARNED = 2_000;

/** Objects with more members are treated as tables whose keys are data. */
const MOST_MEMBERS = 24;
const MAX_DEPTH = 4;

export type LearnedResults = ReturnType<typeof createLearnedResults>;

/** Remembers the types of results, but never their values. Each caller has its own types, because results can depend on the caller. */
export function createLearnedResults() {
  const learned = new Map<string, string>();
  const keyOf = ({ id }: Pick<Tool, "id">, principal: Principal): string =>
    JSON.stringify([id, principal.id, principal.tenant ?? null]);
  return {
    note(tool: Pick<Tool, "id">, principal: Principal, value: unknown): void {
      if (value !== undefined) setNewest(learned, keyOf(tool, principal), typeOf(schemaOf(value, 0)), MOST_LEARNED);
    },
    /** Returns the type of a tool's result: the declared type, or else the learned one. */
    typeOf(tool: Tool, principal: Principal): string | undefined {
      return tool.returns === undefined ? learned.get(keyOf(tool, principal)) : typeOf(tool.returns);
    },
  };
}

/** Returns the JSON Schema of one value. The schema of a list is derived from its first items. */
function schemaOf(value: unknown, depth: number): JsonSchema {
  if (value === null) return { type: "null" };
  if (depth > MAX_DEPTH) return {};
  if (Array.isArray(value)) {
    const first = value.slice(0, 3).map((item) => schemaOf(item, depth + 1));
    return { type: "array", ...(first[0] !== undefined && { items: first[0] }) };
  }
  if (!isPlainObject(value)) return { type: typeof value === "bigint" ? "string" : (typeof value as "string") };
  const entries = Object.entries(value);
  if (entries.length > MOST_MEMBERS)
    return { type: "object", additionalProperties: schemaOf(entries[0]?.[1], depth + 1) };
  const properties = Object.fromEntries(entries.map(([name, member]) => [name, schemaOf(member, depth + 1)]));
  return { type: "object", properties, required: Object.keys(properties) };
}
