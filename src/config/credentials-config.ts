import type { Credential, CredentialConfig, CredentialsConfig } from "../adapters/sources/credentials/settings.ts";
import { readReference, type SecretReference } from "../guard/secrets/reference.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { ServerProblem } from "./clients/server-problem.ts";

/** Credentials as a source takes them. */
export function toCredentials(written: CredentialsConfig): Readonly<Record<string, Credential>> {
  return Object.fromEntries(Object.entries(written).map(([scheme, each]) => [scheme, toCredential(each)]));
}

/** The problem with the first secret that is written out instead of referred to; undefined if there is none. */
export function literalSecret(server: string, credentials: CredentialsConfig): ServerProblem | undefined {
  const all = Object.entries(credentials).flatMap(([scheme, credential]) => secretsIn(scheme, credential));
  const [literal] = all.filter(([, text]) => readReference(text) === undefined);
  if (literal === undefined) return undefined;
  const fix = "Write env:NAME, with the environment variable that holds it, or file:/path.";
  return { server, field: literal[0], message: "is not a reference to a secret", fix };
}

/** Where a credential must have references, and what it has there. */
function secretsIn(scheme: string, credential: CredentialConfig): readonly (readonly [string, string])[] {
  const field = `credentials.${scheme}`;
  if (!isPlainObject(credential)) return [[field, String(credential)]];
  return ["password", "client_secret"].flatMap((key) => {
    const text = (credential as Readonly<Record<string, unknown>>)[key];
    return text === undefined ? [] : [[`${field}.${key}`, String(text)] as const];
  });
}

function toCredential(credential: CredentialConfig): Credential {
  if (typeof credential === "string") return credential as SecretReference;
  if ("username" in credential) return credential as Credential;
  const { client_id, client_secret, token_url, scopes, send_in } = credential;
  return {
    clientId: client_id,
    clientSecret: client_secret as SecretReference,
    ...(token_url === undefined ? {} : { tokenUrl: token_url }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(send_in === undefined ? {} : { sendIn: send_in }),
  };
}
