import { asRecord, asText } from "../../../tool/json-schema.ts";

/** One way in which a server authenticates its callers. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "basic" }
  | { readonly type: "bearer" }
  | { readonly type: "oauth2"; readonly tokenUrl?: string; readonly login?: LoginFlow }
  | { readonly type: "mutualTLS" }
  | { readonly type: "unsupported"; readonly what: string };

/** The addresses of the flow `authorizationCode`, as they are written. */
export interface LoginFlow {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
}

/** A scheme that must be satisfied. */
export interface Requirement {
  /** The name in the document or the card. */
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/** Sets of requirements, each of which is enough. Empty if a request needs none; contains an empty set if credentials are optional. */
export type Security = readonly (readonly Requirement[])[];

/** Reads a security scheme as OpenAPI writes it. */
export function readScheme(written: Readonly<Record<string, unknown>>): SecurityScheme {
  const { type, in: place, name, scheme, flows } = written;
  switch (type) {
    case "apiKey":
      if (typeof name === "string" && (place === "header" || place === "query" || place === "cookie"))
        return { type, in: place, name };
      return { type: "unsupported", what: "a key in an unknown place" };
    case "http":
      return httpScheme(asText(scheme) ?? "without a scheme");
    case "oauth2": {
      const { tokenUrl } = asRecord(asRecord(flows)["clientCredentials"]);
      const { authorizationUrl, tokenUrl: codeUrl } = asRecord(asRecord(flows)["authorizationCode"]);
      const isLogin = typeof authorizationUrl === "string" && typeof codeUrl === "string";
      return {
        type,
        ...(typeof tokenUrl === "string" && { tokenUrl }),
        ...(isLogin && { login: { authorizationUrl, tokenUrl: codeUrl } }),
      };
    }
    case "openIdConnect":
      return { type: "oauth2" };
    case "mutualTLS":
      return { type };
    default:
      return { type: "unsupported", what: typeof type === "string" ? type : "an unknown scheme" };
  }
}

/** A scheme by its word in the `authorization` header. */
export function httpScheme(written: string): SecurityScheme {
  const type = written.toLowerCase();
  return type === "basic" || type === "bearer" ? { type } : { type: "unsupported", what: `HTTP ${written}` };
}
