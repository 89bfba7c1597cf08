import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";

/** Matches one token of a type: a comment, a string, a word, a number, or punctuation. */
const TOKEN =
  /\s*(?:\/\*\*([\s\S]*?)\*\/|\/\*[\s\S]*?\*\/|\/\/[^\n]*|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|([A-Za-z_$][\w$]*)|(-?\d+(?:\.\d+)?)|(\S))/gy;

const PLAIN: Readonly<Record<string, JsonSchema>> = {
  string: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  null: { type: "null" },
  true: { const: true },
  false: { const: false },
  unknown: {},
  any: {},
  object: { type: "object" },
};

interface Token {
  readonly text: string;
  readonly kind: "text" | "word" | "number" | "sign";
  /** The comment before the member. */
  readonly note?: string;
}

/**
 * Converts a TypeScript type to a JSON Schema. Supports objects, lists, unions, literals and Record. Throws with the part that it cannot read; types
 * that are declared elsewhere are not resolved.
 */
export function schemaOfType(text: string): JsonSchema {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (): string => tokens[at]?.text ?? "";
  const next = (): Token => tokens[at++] ?? { text: "", kind: "sign" };

  function expect(sign: string): void {
    const { text: found } = next();
    if (found !== sign)
      throw unreadable(
        text,
        found === "" ? `ends where "${sign}" is expected` : `has ${showValue(found)} where "${sign}" is expected`,
      );
  }

  function union(): JsonSchema {
    if (peek() === "|") next();
    const members = [list()];
    while (peek() === "|") {
      next();
      members.push(list());
    }
    const [only] = members;
    if (members.length === 1 && only !== undefined) return only;
    const values = members.map(({ const: value }) => value);
    if (values.every((value) => value !== undefined)) return { enum: values };
    if (members.length === 2 && members.every(({ const: value }) => typeof value === "boolean"))
      return { type: "boolean" };
    return { anyOf: members };
  }

  function list(): JsonSchema {
    let schema = single();
    while (peek() === "[") {
      next();
      expect("]");
      schema = { type: "array", items: schema };
    }
    return schema;
  }

  function single(): JsonSchema {
    const { text: word, kind } = next();
    if (kind === "text") return { const: word };
    if (kind === "number") return { const: Number(word) };
    if (word === "readonly") return list();
    if (word === "{") return object();
    if (word === "(") {
      const inner = union();
      expect(")");
      return inner;
    }
    if (word === "Array" || word === "ReadonlyArray") {
      expect("<");
      const items = union();
      expect(">");
      return { type: "array", items };
    }
    if (word === "Record") {
      expect("<");
      expect("string");
      expect(",");
      const values = union();
      expect(">");
      return { type: "object", additionalProperties: values };
    }
    const plain = kind === "word" && Object.hasOwn(PLAIN, word) ? PLAIN[word] : undefined;
    if (plain === undefined)
      throw unreadable(text, word === "" ? "is not complete" : `has ${showValue(word)}, which is not known`);
    return plain;
  }

  function object(): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    while (peek() !== "}") {
      let member = next();
      const { note } = member;
      if (member.text === "readonly" && ![":", "?"].includes(peek())) member = next();
      if (member.kind === "sign") throw unreadable(text, `has ${showValue(member.text)} where a name is expected`);
      const isOptional = peek() === "?";
      if (isOptional) next();
      expect(":");
      const schema = union();
      properties[member.text] = { ...schema, ...(note !== undefined && { description: note }) };
      if (!isOptional) required.push(member.text);
      if (peek() === ";" || peek() === ",") next();
    }
    expect("}");
    return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
  }

  const schema = union();
  if (at < tokens.length) throw unreadable(text, `has ${showValue(peek())} after its end`);
  return schema;
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let note: string | undefined;
  for (const [, comment, quoted, word, digits, sign] of text.trim().matchAll(TOKEN)) {
    const found = quoted?.slice(1, -1) ?? word ?? digits ?? sign;
    if (comment !== undefined)
      note = comment
        .replace(/^\s*\*/gm, "")
        .replace(/\s+/g, " ")
        .trim();
    if (found === undefined) continue;
    const kind = quoted !== undefined ? "text" : word !== undefined ? "word" : digits !== undefined ? "number" : "sign";
    tokens.push({ text: found, kind, ...(note !== undefined && { note }) });
    note = undefined;
  }
  return tokens;
}

function unreadable(type: string, problem: string): Error {
  const fix =
    "Write it with string, number, boolean, literals, lists and objects, or give the inputs as a JSON Schema.";
  return fixable("INPUT_INVALID", `The type of input ${problem}.`, fix, { field: "inputs", value: type });
}
