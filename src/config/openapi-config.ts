import type { Credential, OpenApiCredentialConfig, OpenApiSettings } from "../adapters/sources/openapi/settings.ts";
import { showValue } from "../errors/show-value.ts";
import { readReference, type SecretReference } from "../guard/secrets/reference.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import type { ResolvedConfig } from "./load/resolve-config.ts";
import type { ServerProblem } from "./clients/server-problem.ts";

/** A configured document: its name fits a namespace, and the one that was written is kept. */
export interface ConfiguredDocument {
  readonly writtenAs: string;
  readonly settings: OpenApiSettings & { readonly document: string };
}

/** Whether a document is a file of this machine. */
export function isLocalDocument(document: string): boolean {
  return !/^https?:/i.test(document);
}

/** The documents a configuration names, as the arsenal takes them. Invalid ones are reported; the rest still load. */
export function toOpenApis(config: Pick<ResolvedConfig, "openapi" | "mcp">): {
  readonly documents: readonly ConfiguredDocument[];
  readonly problems: readonly ServerProblem[];
} {
  const documents: ConfiguredDocument[] = [];
  const problems: ServerProblem[] = [];
  const taken = new Set(config.mcp.servers.map(({ name }) => toNamespace(name)));
  for (const entry of config.openapi) {
    if (entry.disabled === true) continue;
    const { name: writtenAs, namespace, baseUrl, credentials = {}, disabled: _disabled, ...rest } = entry;
    const name = toNamespace(writtenAs);
    if (taken.has(name)) {
      const message = `is ${showValue(writtenAs)}, and another MCP server or API already has that name`;
      problems.push({ server: writtenAs, field: "name", value: writtenAs, message, fix: "Give each its own name." });
      continue;
    }
    const wrong = Object.entries(credentials).flatMap(([scheme, credential]) => secretsIn(scheme, credential));
    const [literal] = wrong.filter(([, text]) => readReference(text) === undefined);
    if (literal !== undefined) {
      const fix = "Write env:NAME, with the environment variable that holds it, or file:/path.";
      problems.push({ server: writtenAs, field: literal[0], message: "is not a reference to a secret", fix });
      continue;
    }
    taken.add(name);
    documents.push({
      writtenAs,
      settings: {
        ...rest,
        name,
        ...(namespace === undefined ? {} : { namespace: toNamespace(namespace) }),
        ...(baseUrl === undefined ? {} : { server: baseUrl }),
        credentials: Object.fromEntries(
          Object.entries(credentials).map(([scheme, credential]) => [scheme, toCredential(credential)]),
        ),
      },
    });
  }
  return { documents, problems };
}

/** Where a credential must have references, and what it has there. */
function secretsIn(scheme: string, credential: OpenApiCredentialConfig): readonly (readonly [string, string])[] {
  const field = `credentials.${scheme}`;
  if (!isPlainObject(credential)) return [[field, String(credential)]];
  return ["password", "client_secret"].flatMap((key) => {
    const text = (credential as Readonly<Record<string, unknown>>)[key];
    return text === undefined ? [] : [[`${field}.${key}`, String(text)] as const];
  });
}

function toCredential(credential: OpenApiCredentialConfig): Credential {
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
