/** One way in which a server recognises its callers. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "basic" }
  | { readonly type: "bearer" }
  | { readonly type: "oauth2"; readonly tokenUrl?: string }
  | { readonly type: "mutualTLS" }
  | { readonly type: "unsupported"; readonly what: string };

/** A scheme that must be satisfied. */
export interface Requirement {
  /** As the document or the card calls it. */
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/** Sets of requirements, each of which is enough. Empty if a request needs none; contains an empty set if credentials are optional. */
export type Security = readonly (readonly Requirement[])[];
