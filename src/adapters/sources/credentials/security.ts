import { asRecord, asText } from "../../../tool/json-schema.ts";

export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "basic" }
  | { readonly type: "bearer" }
  | { readonly type: "oauth2"; readonly tokenUrl?: string; readonly login?: LoginFlow }
  | { readonly type: "mutualTLS" }
  | { readonly type: "unsupported"; readonly what: string };

/** The addresses of the flow `authorizationCode`, unresolved. */
export interface LoginFlow {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
}

/** A security scheme that a request must satisfy. */
export interface Requirement {
  /** The name in the OpenAPI document or the agent card. */
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/**
 * Alternative sets of requirements: satisfying one set is enough. Empty if no credentials are needed. An empty set means that credentials are
 * optional.
 */
export type Security = readonly (readonly Requirement[])[];

/** Reads a security scheme in the OpenAPI format. */
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

/** Returns the scheme for the first word of an `authorization` header. */
export function httpScheme(written: string): SecurityScheme {
  const type = written.toLowerCase();
  return type === "basic" || type === "bearer" ? { type } : { type: "unsupported", what: `HTTP ${written}` };
}
