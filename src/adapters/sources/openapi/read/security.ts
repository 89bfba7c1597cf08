import { asRecord, asRecords, asTexts } from "../../../../tool/json-schema.ts";
import { readScheme, type Security, type SecurityScheme } from "../../credentials/security.ts";
import type { JsonObject, References } from "./references.ts";

/** Returns the security requirements of an operation. Defaults to those of the document. */
export function readSecurity(definition: JsonObject, root: JsonObject, references: References): Security {
  return asRecords(definition["security"] ?? root["security"]).map((set) =>
    Object.entries(set).map(([name, scopes]) => ({
      name,
      scheme: schemeOf(name, root, references),
      scopes: asTexts(scopes),
    })),
  );
}

function schemeOf(name: string, root: JsonObject, references: References): SecurityScheme {
  const schemes = asRecord(asRecord(root["components"])["securitySchemes"]);
  try {
    const found = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
    const scheme = readScheme(references.follow(found, `the security scheme ${name}`));
    return scheme.type === "mutualTLS" ? { type: "unsupported", what: scheme.type } : scheme;
  } catch {
    return { type: "unsupported", what: "a scheme that the document does not describe" };
  }
}
