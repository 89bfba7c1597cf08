import * as fc from "fast-check";
import type { JsonSchema } from "../../src/tool/json-schema.ts";

const SAMPLES: Readonly<Record<string, string>> = {
  "date-time": "2026-01-02T03:04:05Z",
  date: "2026-01-02",
  time: "03:04:05Z",
  duration: "P1D",
  email: "a@example.com",
  hostname: "example.com",
  uri: "https://example.com/",
  ipv4: "127.0.0.1",
  ipv6: "::1",
  uuid: "6b1c9a3e-58f3-4a57-9b57-1f4b9b3a7c11",
};

/** Values that fit a converted schema, as a provider's strict mode would make them. Recursion ends after a few turns. */
export function arbitraryInstance(schema: JsonSchema, root: JsonSchema = schema, depth = 0): fc.Arbitrary<unknown> {
  const { type, anyOf, enum: values, $ref, nullable } = schema;
  const inside = (node: JsonSchema): fc.Arbitrary<unknown> => arbitraryInstance(node, root, depth + 1);
  const orNull = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    nullable === true ? fc.oneof(fc.constant(null), { weight: 3, arbitrary: value }) : value;
  if (typeof $ref === "string") {
    const name = $ref.replace("#/$defs/", "");
    return inside((root["$defs"] as Record<string, JsonSchema>)[name] ?? {});
  }
  if (Array.isArray(anyOf)) {
    const branches = anyOf as JsonSchema[];
    const simple = branches.find((branch) => branch.type === "null") ?? branches[0];
    if (depth > 12 && simple !== undefined) return inside(simple);
    return orNull(fc.oneof(...branches.map(inside)));
  }
  if (Object.hasOwn(schema, "const")) return orNull(fc.constant(schema.const));
  if (Array.isArray(values)) return orNull(fc.constantFrom(...(values as unknown[])));
  const types = [type].flat().map((each) => String(each));
  if (types.length > 1) {
    const kept = depth > 12 && types.includes("null") ? ["null"] : types;
    return fc.oneof(...kept.map((each) => arbitraryInstance({ ...schema, type: each }, root, depth + 1)));
  }
  return orNull(ofType(types[0] ?? "", schema, inside, depth));
}

function numbers(schema: JsonSchema): fc.Arbitrary<number> {
  const { minimum = -50, maximum = 50, exclusiveMinimum = -51, exclusiveMaximum = 51, multipleOf = 1 } = schema;
  const step = Number(multipleOf);
  const min = Math.ceil(Math.max(Number(minimum), Number(exclusiveMinimum) + 1) / step);
  const max = Math.floor(Math.min(Number(maximum), Number(exclusiveMaximum) - 1) / step);
  return fc.integer({ min, max: Math.max(min, max) }).map((count) => count * step);
}

function strings(schema: JsonSchema): fc.Arbitrary<string> {
  const { format, pattern } = schema;
  if (format !== undefined && format !== "enum") return fc.constant(SAMPLES[String(format)] ?? "");
  if (pattern !== undefined) return fc.constantFrom("a", "abc");
  const { minLength = 0, maxLength = Infinity } = schema;
  const fitting = ["", "x", "text", "5", "true", "{}", " a "].filter(
    ({ length }) => length >= Number(minLength) && length <= Number(maxLength),
  );
  return fc.constantFrom(...fitting);
}

function ofType(
  type: string,
  schema: JsonSchema,
  inside: (node: JsonSchema) => fc.Arbitrary<unknown>,
  depth: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return numbers(schema);
    case "string":
      return strings(schema);
    case "array": {
      const items = schema.items as JsonSchema;
      const minLength = Number(schema["minItems"] ?? 0);
      const maxLength = Math.max(minLength, depth > 8 ? 0 : 2);
      return fc.array(inside(items), { minLength, maxLength });
    }
    case "object": {
      const properties = Object.entries(schema.properties ?? {}) as [string, JsonSchema][];
      const required = new Set(schema.required ?? []);
      const optional = properties.filter(([name]) => !required.has(name) && depth <= 8);
      const must = properties.filter(([name]) => required.has(name));
      return fc
        .tuple(
          fc.tuple(...must.map(([name, node]) => inside(node).map((value) => [name, value] as const))),
          fc.tuple(...optional.map(([name, node]) => fc.option(inside(node).map((value) => [name, value] as const)))),
        )
        .map(([first, second]) => Object.fromEntries([...first, ...second.filter((entry) => entry !== null)]));
    }
    default:
      throw new Error(`no type: ${JSON.stringify(schema)}`);
  }
}
