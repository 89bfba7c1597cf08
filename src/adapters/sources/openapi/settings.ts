import type { SecretReference } from "../../../guard/secrets/reference.ts";

/** An API that an OpenAPI document describes. */
export interface OpenApiSettings {
  /** The ensemble's name, and the namespace of its tools unless `namespace` says another. */
  readonly name: string;
  readonly namespace?: string;
  /** OpenAPI 2.0, 3.0, 3.1 or 3.2: the path of a file or an address, JSON or YAML, or the document itself. */
  readonly document: string | object;
  /** Where the API is, instead of the servers that the document names. It may be on this machine or a private network. */
  readonly server?: string;
  /** Values for the variables in the document's server addresses. */
  readonly serverVariables?: Readonly<Record<string, string>>;
  /** What the API wants to see, by the name of the document's security scheme. */
  readonly credentials?: Readonly<Record<string, Credential>>;
  /** Sent with every request. A value `env:NAME` is read from the environment. */
  readonly headers?: Readonly<Record<string, SecretReference | string>>;
  /** Only operations that match; all, where absent. */
  readonly include?: OperationFilter;
  /** Never operations that match. */
  readonly exclude?: OperationFilter;
  /** True where the API keeps what HTTP says of its methods: GET changes nothing, PUT and DELETE can be repeated. */
  readonly trustMethods?: boolean;
  /** A folder whose files may be sent by path. Without it, files are given as text or base64. */
  readonly filesFrom?: string;
  /** Bytes of a tool's definition, as JSON. What is left out of a larger one is in `schemaOf`. Default 32,768. */
  readonly maxToolBytes?: number;
  /** Bytes of the document. Default 64 MiB. */
  readonly maxDocumentBytes?: number;
  /** Bytes of an answer, decompressed. Default 16 MiB. */
  readonly maxAnswerBytes?: number;
  /** Time one call may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Calls at once. */
  readonly maxConcurrent?: number;
}

/** Which operations are meant. Each list has patterns in which `*` stands for any characters and case does not matter. */
export interface OperationFilter {
  readonly tags?: readonly string[];
  /** As the document writes them: `/repos/{owner}/*`. */
  readonly paths?: readonly string[];
  readonly methods?: readonly string[];
  readonly operationIds?: readonly string[];
}

/**
 * A secret for one security scheme: a key or a token; a user's name and password; or a client that gets its tokens by OAuth 2 client
 * credentials.
 */
export type Credential = SecretReference | BasicCredential | ClientCredential;

/** For `http` `basic`. The name may be written out; the password never is. */
export interface BasicCredential {
  readonly username: SecretReference | string;
  readonly password?: SecretReference;
}

/** For `oauth2` with the flow `clientCredentials`. */
export interface ClientCredential {
  readonly clientId: SecretReference | string;
  readonly clientSecret: SecretReference;
  /** Instead of the address in the document. */
  readonly tokenUrl?: string;
  /** Instead of the scopes that each operation asks for. */
  readonly scopes?: readonly string[];
  /** Where id and secret are sent. Default `header`. */
  readonly sendIn?: "header" | "body";
}
