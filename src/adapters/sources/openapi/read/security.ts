import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Security, SecurityScheme } from "../../credentials/security.ts";
import type { JsonObject, References } from "./references.ts";

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
