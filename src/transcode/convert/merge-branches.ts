import { isPlainObject } from "../../tool/json-schema.ts";
import { type Conversion, ROOT } from "./conversion.ts";
import { requiredOf } from "./convert-object.ts";
import { addNotes } from "./describe-constraint.ts";
import { ANNOTATIONS, type SchemaNode } from "../schema/keywords.ts";
import { mergeAllOf } from "./merge-all-of.ts";
import { isSame } from "./merge-schemas.ts";

/** What is taken over from an alternative. */
const KEPT: ReadonlySet<string> = new Set(["type", "properties", "required", "additionalProperties", ...ANNOTATIONS]);

/** A tool's alternatives for its parameters as one object with the properties of all; which of them go together is said in words. */
export function mergeBranches(node: SchemaNode, keyword: "anyOf" | "oneOf", conversion: Conversion): SchemaNode {
  const { [keyword]: given, ...rest } = node;
  const own = Object.fromEntries(Object.entries(rest).filter(([name]) => !ANNOTATIONS.has(name)));
  const forms = (given as readonly unknown[]).flatMap((branch, index): readonly SchemaNode[] => {
    const place = { ...conversion.inside(ROOT, branch, keyword, index), depth: 0 };
    const merged = mergeAllOf({ allOf: [own, branch] }, place, conversion).node;
    return merged === false ? [] : [merged];
  });
  const isWhole = forms.length === 1 && forms.every((form) => Object.keys(form).every((name) => KEPT.has(name)));
  if (isWhole) conversion.loseAt(ROOT, keyword, "resolved", "as the one alternative there is");
  else {
    const message = "its alternatives as one object; which go together is said in the description";
    conversion.loseAt(ROOT, keyword, "widened", message);
  }
  const required = forms.map(requiredOf);
  const inAll = (required[0] ?? []).filter((name) => required.every((names) => names.includes(name)));
  const isClosed = forms.length > 0 && forms.every((form) => form["additionalProperties"] === false);
  const properties = sharedProperties(forms);
  const isMap = Object.keys(properties).length === 0 && forms.some((form) => Boolean(form["additionalProperties"]));
  const words = `Give the parameters of one of these: ${forms.map(inWords).join("; ")}.`;
  const description = addNotes(rest["description"], forms.length > 1 ? [words] : []);
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    type: "object",
    properties,
    required: inAll,
    ...(isClosed ? { additionalProperties: false } : {}),
    ...(isMap ? { additionalProperties: true } : {}),
  };
}

function sharedProperties(forms: readonly SchemaNode[]): Readonly<Record<string, unknown>> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of forms) {
    for (const [name, schema] of isPlainObject(properties) ? Object.entries(properties) : []) {
      const known = found.get(name) ?? [];
      if (schema !== false && !known.some((other) => isSame(other, schema))) known.push(schema);
      found.set(name, known);
    }
  }
  const entries = [...found].filter(([, schemas]) => schemas.length > 0);
  return Object.fromEntries(
    entries.map(([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }]),
  );
}

function inWords(form: SchemaNode): string {
  const required = new Set(requiredOf(form));
  const { properties } = form;
  const names = new Set([...required, ...(isPlainObject(properties) ? Object.keys(properties) : [])]);
  const told = [...names].map((name) => (required.has(name) ? name : `${name} (optional)`));
  return told.length === 0 ? "none" : told.join(", ");
}
