import type { SecretReference } from "../../../guard/secrets/reference.ts";
import { schema, type Setting } from "../../settings.ts";

/** What the settings of a source say about credentials. */
export interface CredentialSettings {
  readonly name: string;
  readonly credentials?: Readonly<Record<string, Credential>>;
  readonly headers?: Readonly<Record<string, SecretReference | string>>;
  /** A client certificate. */
  readonly tls?: object;
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

/** A credential as files have it: a reference to a key or token; a user; or a client with OAuth 2 client credentials. */
export type CredentialConfig =
  | string
  | { readonly username: string; readonly password?: string }
  | {
      readonly client_id: string;
      readonly client_secret: string;
      readonly token_url?: string;
      readonly scopes?: readonly string[];
      readonly send_in?: "header" | "body";
    };

/** Credentials as files have them, by the name of a security scheme. */
export type CredentialsConfig = Readonly<Record<string, CredentialConfig>>;

/** By the name of a security scheme, which others chose: keys are not renamed. */
export function credentials(whose: string): Setting<CredentialsConfig, CredentialsConfig, false> {
  const reference = { type: "string", minLength: 1 };
  const basic = { username: reference, password: reference };
  const client = {
    client_id: reference,
    client_secret: reference,
    token_url: reference,
    scopes: { type: "array", items: { type: "string" } },
    send_in: { description: "Where id and secret are sent; header by default.", enum: ["header", "body"] },
  };
  const mapping = (properties: object, required: readonly string[]): object => {
    return { type: "object", properties, required, additionalProperties: false };
  };
  return schema({
    description: `By the name of ${whose} security scheme: a reference to a secret (env:NAME), { username, password } or { client_id, client_secret }.`,
    type: "object",
    additionalProperties: {
      anyOf: [reference, mapping(basic, ["username"]), mapping(client, ["client_id", "client_secret"])],
    },
  });
}
