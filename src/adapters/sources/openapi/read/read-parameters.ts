import { showValue } from "../../../../errors/show-value.ts";
import { asRecord, asText, isPlainObject } from "../../../../tool/json-schema.ts";
import type { Operation } from "./operations.ts";
import { broken, type JsonObject, type References } from "./references.ts";
import { COLLECTION_FORMAT } from "./swagger.ts";

const STYLES = {
  path: ["simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "tabDelimited"],
  query: ["form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"],
  header: ["simple", "spaceDelimited", "pipeDelimited", "tabDelimited"],
  cookie: ["form", "cookie"],
} as const;

/** The part of a request that holds a parameter. */
export type Location = keyof typeof STYLES;

/** The OpenAPI `style` of a value. */
export type Style = (typeof STYLES)[Location][number];

/** Defines how values are written. */
export interface Writing {
  readonly style: Style;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** If set, the whole value is written as this media type, and the style is ignored. */
  readonly contentType?: string | undefined;
}

export interface Parameter extends Writing {
  readonly name: string;
  readonly in: Location;
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly deprecated: boolean;
  /** The schema in the document. */
  readonly schema: unknown;
}

const LOCATIONS = Object.keys(STYLES) as readonly Location[];

/** Headers that OpenAPI does not allow as parameters, and headers of the connection. */
const NOT_PARAMETERS: ReadonlySet<string> = new Set(
  "accept content-type authorization content-length host connection transfer-encoding upgrade".split(" "),
);

/** Returns the parameters of an operation and its path, and the request bodies that version 2.0 lists among them. */
export function readParameters(
  { definition, item, path }: Operation,
  references: References,
): { readonly parameters: readonly Parameter[]; readonly bodies: readonly JsonObject[] } {
  const found = new Map<string, Parameter>();
  const bodies: JsonObject[] = [];
  const add = (given: JsonObject): void => {
    const parameter = toParameter(given, references);
    if (parameter !== undefined) found.set(`${parameter.in} ${parameter.name}`, parameter);
  };
  for (const given of [item["parameters"], definition["parameters"]].flatMap(toList)) {
    const read = references.follow(given, "a parameter");
    if (read["in"] === undefined && isPlainObject(read["content"])) bodies.push(read);
    else add(read);
  }
  const inTemplate = namesIn(path);
  // The address needs these parameters, even if the document does not describe them.
  for (const name of inTemplate) if (!found.has(`path ${name}`)) add({ name, in: "path", schema: { type: "string" } });
  const parameters = [...found.values()].filter((each) => each.in !== "path" || inTemplate.has(each.name));
  return { parameters: parameters.toSorted((a, b) => LOCATIONS.indexOf(a.in) - LOCATIONS.indexOf(b.in)), bodies };
}

/** Returns the names in braces of an address. */
export function namesIn(template: string): ReadonlySet<string> {
  return new Set(Array.from(template.matchAll(/\{([^{}]+)\}/g), ([, name = ""]) => name));
}

function toParameter(given: JsonObject, references: References): Parameter | undefined {
  const { name, in: location } = given;
  if (typeof name !== "string" || name === "") throw broken(`a parameter's name is ${showValue(name)}`);
  const where = LOCATIONS.find((each) => each === location);
  if (where === undefined)
    throw broken(`the parameter ${showValue(name)} is in ${showValue(location)}, which cannot be sent`);
  if (where === "header" && NOT_PARAMETERS.has(name.toLowerCase())) return undefined;
  const [contentType, content] = Object.entries(asRecord(given["content"]))[0] ?? [];
  const media = contentType === undefined ? given : references.follow(content, `the content of ${name}`);
  return {
    name,
    in: where,
    required: where === "path" || given["required"] === true,
    deprecated: given["deprecated"] === true,
    description: asText(given["description"]),
    ...toWriting(given, where),
    contentType,
    schema: media["schema"] ?? given["schema"] ?? {},
  };
}

const COLLECTION_STYLES: Record<string, Style> = { ssv: "spaceDelimited", pipes: "pipeDelimited", tsv: "tabDelimited" };

function toWriting(given: JsonObject, where: Location): Writing {
  const collection = COLLECTION_STYLES[String(given[COLLECTION_FORMAT])];
  const named = collection ?? given["style"] ?? STYLES[where][0];
  const style = STYLES[where].find((each) => each === named);
  if (style === undefined)
    throw broken(`the ${where} parameter ${showValue(given["name"])} has the unsupported style ${showValue(named)}`);
  const explode = collection === undefined ? given["explode"] : false;
  // GitHub marks parameters that hold a whole path.
  const allowReserved = given["allowReserved"] === true || given["x-multi-segment"] === true;
  return { style, explode: explodes(style, explode), allowReserved };
}

/** True if each member is written under its own name. */
export function explodes(style: unknown, explode: unknown): boolean {
  return typeof explode === "boolean" ? explode : style === "form" || style === "deepObject" || style === "cookie";
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw broken(`its parameters are ${showValue(value)} instead of a list`);
  return value;
}
