import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { JsonObject, References } from "./references.ts";

/** One way in which an API recognises its callers. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "basic" }
  | { readonly type: "bearer" }
  | { readonly type: "oauth2"; readonly tokenUrl?: string }
  | { readonly type: "unsupported"; readonly what: string };

/** A scheme that must be satisfied. */
export interface Requirement {
  /** As the document calls it. */
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/** Sets of requirements, each of which is enough. None at all where an operation is open; an empty set where credentials are optional. */
export type Security = readonly (readonly Requirement[])[];

/** What an operation demands, or the document for all that do not say. */
export function readSecurity(definition: JsonObject, root: JsonObject, references: References): Security {
  const given = definition["security"] ?? root["security"];
  if (!Array.isArray(given)) return [];
  return given.filter(isPlainObject).map((set) =>
    Object.entries(set).map(([name, scopes]) => ({
      name,
      scheme: readScheme(name, root, references),
      scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [],
    })),
  );
}

function readScheme(name: string, root: JsonObject, references: References): SecurityScheme {
  const components = isPlainObject(root["components"]) ? root["components"] : {};
  const schemes = isPlainObject(components["securitySchemes"]) ? components["securitySchemes"] : {};
  let found: JsonObject;
  try {
    found = references.follow(Object.hasOwn(schemes, name) ? schemes[name] : undefined, `the security scheme ${name}`);
  } catch {
    return { type: "unsupported", what: "a scheme that the document does not describe" };
  }
  const { type, in: place, name: key, scheme, flows } = found;
  if (type === "apiKey" && typeof key === "string" && (place === "header" || place === "query" || place === "cookie"))
    return { type, in: place, name: key };
  if (type === "http" && typeof scheme === "string") {
    const word = scheme.toLowerCase();
    return word === "basic" || word === "bearer" ? { type: word } : { type: "unsupported", what: `HTTP ${scheme}` };
  }
  if (type === "openIdConnect") return { type: "oauth2" };
  if (type === "oauth2") {
    const flow = isPlainObject(flows) ? flows["clientCredentials"] : undefined;
    const tokenUrl = isPlainObject(flow) ? flow["tokenUrl"] : undefined;
    return { type, ...(typeof tokenUrl === "string" ? { tokenUrl } : {}) };
  }
  return { type: "unsupported", what: String(type) };
}
