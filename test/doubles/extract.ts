/**
 * Takes the schemas of the operations that a double answers out of a provider's published API document (OpenAPI 3 or Swagger 2), without
 * descriptions: `node test/doubles/extract.ts DOCUMENT NAME VERSION LICENSE SOURCE "POST /path" …` writes test/doubles/NAME.schema.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";

type Node = Readonly<Record<string, unknown>>;

const [document = "", name = "", version = "", license = "", source = "", ...operations] = process.argv.slice(2);
const api = parse(readFileSync(document, "utf8")) as Record<string, Node>;
const all = (api["components"]?.["schemas"] ?? api["definitions"] ?? {}) as Readonly<Record<string, Node>>;
const schemas: Record<string, unknown> = {};

/** Keys that say something about values. */
const KEPT = new Set(
  "type enum const items properties required additionalProperties anyOf oneOf allOf not minimum maximum minLength maxLength minItems maxItems pattern uniqueItems".split(
    " ",
  ),
);

/** A schema as JSON Schema. Objects take no other properties than those they name; the parts of one are closed together. */
function convert(schema: Node, isPart = false): unknown {
  const { $ref, nullable, ...rest } = schema;
  if (typeof $ref === "string") {
    const referred = $ref.split("/").at(-1) ?? "";
    const target = isPart ? `${referred}.part` : referred;
    if (!(target in schemas)) {
      schemas[target] = true;
      schemas[target] = convert(all[referred] ?? {}, isPart);
    }
    const reference = { $ref: `#/schemas/${target}` };
    return nullable === true ? { anyOf: [reference, { type: "null" }] } : reference;
  }
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (!KEPT.has(key)) continue;
    if (key === "properties")
      kept[key] = Object.fromEntries(
        Object.entries(value as Record<string, Node>).map(([own, each]) => [own, convert(each)]),
      );
    // Documents say oneOf of integer and number, which a whole number would match twice.
    else if (key === "anyOf" || key === "oneOf") kept["anyOf"] = (value as Node[]).map((each) => convert(each));
    else if (key === "allOf") kept[key] = (value as Node[]).map((each) => convert(each, true));
    else if (key === "items" || key === "not" || (key === "additionalProperties" && typeof value === "object"))
      kept[key] = convert(value as Node);
    // Some documents give lists a length.
    else if (rest["type"] === "array" && key.endsWith("Length")) kept[key.replace("Length", "Items")] = value;
    else kept[key] = value;
  }
  if ("allOf" in kept && !isPart) kept["unevaluatedProperties"] = false;
  else if ("properties" in kept && !("additionalProperties" in kept) && !isPart) kept["additionalProperties"] = false;
  if (nullable !== true) return kept;
  return Object.keys(kept).length === 0 ? { type: "null" } : { anyOf: [kept, { type: "null" }] };
}

/** The schema of a JSON body, wherever the version of OpenAPI puts it. */
function bodyOf(part: Node | undefined): unknown {
  const content = ((part?.["content"] ?? {}) as Record<string, Node>)["application/json"];
  const schema = (content?.["schema"] ?? part?.["schema"]) as Node | undefined;
  return schema === undefined ? undefined : convert(schema);
}

const extracted = Object.fromEntries(
  operations.map((operation) => {
    const [method = "", path = ""] = operation.split(" ");
    const place = api["paths"]?.[path] as Record<string, Node> | undefined;
    const found = place?.[method.toLowerCase()];
    if (!found) throw new Error(`${document} has no ${operation}`);
    const parameters = [
      ...((found["parameters"] ?? []) as Node[]),
      ...((place?.["parameters"] ?? []) as unknown as Node[]),
    ];
    const body = (found["requestBody"] as Node | undefined) ?? parameters.find((each) => each["in"] === "body");
    const responses = Object.entries(found["responses"] as Record<string, Node>).flatMap(([status, response]) => {
      const schema = bodyOf(response);
      return schema === undefined ? [] : [[status, schema]];
    });
    const query = parameters.filter((each) => each["in"] === "query").map((each) => each["name"]);
    return [operation, { query, request: bodyOf(body), responses: Object.fromEntries(responses) as object }];
  }),
);
const text = JSON.stringify({ source, version, license, operations: extracted, schemas });
writeFileSync(new URL(`${name}.schema.json`, import.meta.url), `${text}\n`);
