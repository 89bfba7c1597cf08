import type { SecretReference } from "../../../guard/secrets/reference.ts";
import { choice, entry, type InputOf, list, schema, type Shape, text } from "../../../tool/shape/shape.ts";

export interface CredentialSettings {
  readonly name: string;
  readonly credentials?: Readonly<Record<string, Credential>>;
  readonly headers?: SecretTexts;
  /** A client certificate. */
  readonly tls?: object;
}

/** Texts by name. Each is a literal text or a reference to a secret. */
export type SecretTexts = Readonly<Record<string, SecretReference | string>>;

/** A record of texts or references to secrets. The user chooses the keys. */
export function secretTexts(description: string): Shape<SecretTexts, SecretTexts, false> {
  return schema({ description, type: "object", additionalProperties: { type: "string" } });
}

/** A text or a reference to a secret. */
const secretText = (description: string): Shape<SecretReference | string, SecretReference | string, false> =>
  schema({ description, type: "string", minLength: 1 });

/** A reference to a secret, never the secret itself. */
const reference = (description: string): Shape<SecretReference, SecretReference, false> =>
  schema({ description, type: "string", minLength: 1 });

const BASIC = entry(
  "For the scheme http basic.",
  { username: secretText("The user name."), password: reference("A secret reference to the password.") },
  ["username"],
);

const CLIENT = entry(
  "For oauth2 with the flow clientCredentials.",
  {
    clientId: secretText("The client id."),
    clientSecret: reference("A secret reference to the client secret."),
    tokenUrl: text("URL of the token endpoint. Defaults to the URL in the document or card."),
    scopes: list("Scopes to request. Defaults to the scopes that each operation needs.", text("A scope.")),
    sendIn: choice("Where the client id and secret are sent. Defaults to header.", ["header", "body"]),
  },
  ["clientId", "clientSecret"],
);

const USER = entry(
  "For oauth2 with the flow authorizationCode: each caller signs in.",
  {
    account: choice(
      "user: each caller signs in. user_or_gateway: callers who have not signed in use the client's own token (clientCredentials).",
      ["user", "user_or_gateway"],
    ),
    clientId: secretText("The client id."),
    clientSecret: reference("A secret reference to the client secret. Omit it for a public client."),
    authorizationUrl: text("URL of the authorization endpoint. Defaults to the URL in the document."),
    tokenUrl: text("URL of the token endpoint. Defaults to the URL in the document."),
    scopes: list("Scopes to request. Defaults to the scopes that the operations need.", text("A scope.")),
    sendIn: choice("Where the client id and secret are sent. Defaults to header.", ["header", "body"]),
  },
  ["account", "clientId"],
);

/** For `http` `basic`. The user name may be a literal; the password must be a reference. */
export type BasicCredential = InputOf<typeof BASIC>;

/** For `oauth2` with the flow `clientCredentials`. */
export type ClientCredential = InputOf<typeof CLIENT>;

/** For `oauth2` with the flow `authorizationCode`: each caller signs in. */
export type UserCredential = InputOf<typeof USER>;

/**
 * The credential for one security scheme: a key or token; a user name and password; an OAuth 2 client for the client credentials flow; or an OAuth 2
 * client that callers sign in with.
 */
export type Credential = SecretReference | BasicCredential | ClientCredential | UserCredential;

/** Credentials by the name of a security scheme. The API's document chooses these names, so they are used unchanged. */
export function credentials(
  whose: string,
  { signIn = false }: { readonly signIn?: boolean } = {},
): Shape<Readonly<Record<string, Credential>>, Readonly<Record<string, Credential>>, false> {
  return schema({
    description: `Credentials by the name of ${whose} security scheme: a secret reference (env:NAME), { username, password } or { client_id, client_secret }${signIn ? ". Add account: user if each caller signs in" : ""}.`,
    type: "object",
    additionalProperties: {
      anyOf: [reference("A secret reference to a key or token."), BASIC, CLIENT, ...(signIn ? [USER] : [])],
    },
  });
}
