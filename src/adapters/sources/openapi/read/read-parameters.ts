import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Operation } from "./operations.ts";
import { broken, type JsonObject, type References } from "./references.ts";
import { COLLECTION_FORMAT } from "./swagger.ts";

/** Where a parameter stands in a request. */
export type Location = "path" | "query" | "header" | "cookie";

/** How a value is written, as OpenAPI names it. */
export type Style =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "tabDelimited"
  | "deepObject"
  | "cookie";

/** How the values of one name are written. */
export interface Writing {
  readonly style: Style;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** The whole value is written as this media type, and the style does not matter. */
  readonly contentType?: string;
}

/** One parameter of an operation. */
export interface Parameter extends Writing {
  readonly name: string;
  readonly in: Location;
  readonly required: boolean;
  readonly description?: string;
  readonly deprecated: boolean;
  /** As the document has it. */
  readonly schema: unknown;
}

const STYLES: Readonly<Record<Location, readonly Style[]>> = {
  path: ["simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "tabDelimited"],
  query: ["form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"],
  header: ["simple", "spaceDelimited", "pipeDelimited", "tabDelimited"],
  cookie: ["form", "cookie"],
};

const LOCATIONS: readonly Location[] = ["path", "query", "header", "cookie"];

/** Headers that OpenAPI keeps out of the parameters, and those that belong to the connection. */
const NOT_PARAMETERS: ReadonlySet<string> = new Set(
  "accept content-type authorization content-length host connection transfer-encoding upgrade".split(" "),
);

/** The parameters of an operation, its path's included, and request bodies of version 2.0 that stand among them. */
export function readParameters(
  { definition, item, path }: Operation,
  references: References,
): { readonly parameters: readonly Parameter[]; readonly bodies: readonly JsonObject[] } {
  const found = new Map<string, Parameter>();
  const bodies: JsonObject[] = [];
  for (const given of [item["parameters"], definition["parameters"]].flatMap(toList)) {
    const read = references.follow(given, "a parameter");
    if (read["in"] === undefined && isPlainObject(read["content"])) bodies.push(read);
    else {
      const parameter = toParameter(read, references);
      if (parameter !== undefined) found.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  const inTemplate = namesIn(path);
  const parameters = [...found.values()].filter((each) => each.in !== "path" || inTemplate.has(each.name));
  for (const name of inTemplate) {
    // The address cannot be built without it, whether the document describes it or not.
    if (!found.has(`path ${name}`)) parameters.push({ ...PLAIN, name, schema: { type: "string" } });
  }
  return { parameters: parameters.toSorted((a, b) => LOCATIONS.indexOf(a.in) - LOCATIONS.indexOf(b.in)), bodies };
}

const PLAIN = {
  in: "path",
  required: true,
  deprecated: false,
  style: "simple",
  explode: false,
  allowReserved: false,
} as const;

/** The names in braces of an address. */
export function namesIn(template: string): ReadonlySet<string> {
  return new Set(Array.from(template.matchAll(/\{([^{}]+)\}/g), ([, name = ""]) => name));
}

function toParameter(given: JsonObject, references: References): Parameter | undefined {
  const { name, in: location, description } = given;
  if (typeof name !== "string" || name === "") throw broken(`a parameter's name is ${showValue(name)}`);
  if (!LOCATIONS.includes(location as Location))
    throw broken(`the parameter ${showValue(name)} is in ${showValue(location)}, which cannot be sent`);
  const where = location as Location;
  if (where === "header" && NOT_PARAMETERS.has(name.toLowerCase())) return undefined;
  const content = isPlainObject(given["content"]) ? Object.entries(given["content"])[0] : undefined;
  const media = content === undefined ? undefined : references.follow(content[1], `the content of ${name}`);
  return {
    name,
    in: where,
    required: where === "path" || given["required"] === true,
    deprecated: given["deprecated"] === true,
    ...(typeof description === "string" ? { description } : {}),
    ...toWriting(given, where),
    ...(content === undefined ? {} : { contentType: content[0] }),
    schema: media?.["schema"] ?? given["schema"] ?? {},
  };
}

const COLLECTION_STYLES: Readonly<Record<string, Style>> = {
  ssv: "spaceDelimited",
  pipes: "pipeDelimited",
  tsv: "tabDelimited",
};

function toWriting(given: JsonObject, where: Location): Writing {
  const collection = COLLECTION_STYLES[String(given[COLLECTION_FORMAT])];
  const style = collection ?? given["style"] ?? STYLES[where][0];
  if (!STYLES[where].includes(style as Style))
    throw broken(`the ${where} parameter ${showValue(given["name"])} has the style ${showValue(style)}`);
  const explode = collection === undefined ? given["explode"] : false;
  // GitHub marks parameters that hold a whole path.
  const allowReserved = given["allowReserved"] === true || given["x-multi-segment"] === true;
  return { style: style as Style, explode: explodes(style, explode), allowReserved };
}

/** Whether each member is written under its own name. */
export function explodes(style: unknown, explode: unknown): boolean {
  return typeof explode === "boolean" ? explode : style === "form" || style === "deepObject" || style === "cookie";
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw broken(`its parameters are ${showValue(value)} instead of a list`);
  return value;
}
