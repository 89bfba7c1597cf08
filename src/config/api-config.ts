import type { Credential, CredentialConfig, CredentialsConfig } from "../adapters/sources/credentials/settings.ts";
import type { A2aAgentSettings } from "../adapters/sources/a2a/settings.ts";
import type { OpenApiSettings } from "../adapters/sources/openapi/settings.ts";
import { readReference } from "../guard/secrets/reference.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { nameTaken, type ServerProblem } from "./clients/server-problem.ts";
import { toCamel } from "./load/key-style.ts";
import type { ResolvedConfig } from "./load/resolve-config.ts";

/** An OpenAPI document by its path or address. */
export type ConfiguredDocument = OpenApiSettings & { readonly document: string };

/** Whether a document is a file of this machine. */
export function isLocalDocument(document: string): boolean {
  return !/^https?:/i.test(document);
}

/** The documents a configuration names, as the arsenal takes them. Invalid ones are reported; the rest still load. */
export function toOpenApis({ openapi, mcp }: Pick<ResolvedConfig, "openapi" | "mcp">): {
  readonly documents: readonly ConfiguredDocument[];
  readonly problems: readonly ServerProblem[];
} {
  const { usable, problems } = readEntries(openapi, mcp.servers, "MCP server or API");
  return {
    documents: usable.map(({ baseUrl, ...rest }) => ({ ...rest, ...(baseUrl !== undefined && { server: baseUrl }) })),
    problems,
  };
}

/** The agents a configuration names, as the arsenal takes them. Invalid ones are reported; the rest still load. */
export function toA2aAgents({ a2a, mcp, openapi }: Pick<ResolvedConfig, "a2a" | "mcp" | "openapi">): {
  readonly agents: readonly A2aAgentSettings[];
  readonly problems: readonly ServerProblem[];
} {
  const { usable, problems } = readEntries(a2a.agents, [...mcp.servers, ...openapi], "server, API or agent");
  return { agents: usable, problems };
}

interface Entry {
  readonly name: string;
  readonly namespace?: string;
  readonly disabled?: boolean;
  readonly credentials?: CredentialsConfig;
}

/** The entries that can be used, with names that fit a namespace, and what is wrong with others. */
function readEntries<Of extends Entry>(
  entries: readonly Of[],
  others: readonly { readonly name: string }[],
  what: string,
) {
  type Usable = Omit<Of, keyof Entry> &
    Pick<Entry, "name" | "namespace"> & { readonly credentials?: Readonly<Record<string, Credential>> };
  const usable: Usable[] = [];
  const problems: ServerProblem[] = [];
  const taken = new Set(others.map(({ name }) => toNamespace(name)));
  for (const { disabled = false, name: writtenAs, namespace, credentials, ...rest } of entries) {
    if (disabled) continue;
    const name = toNamespace(writtenAs);
    const secret = literalSecret(writtenAs, credentials ?? {});
    if (taken.has(name)) problems.push(nameTaken(writtenAs, what));
    else if (secret !== undefined) problems.push(secret);
    else {
      taken.add(name);
      usable.push({
        ...rest,
        name,
        ...(namespace !== undefined && { namespace: toNamespace(namespace) }),
        ...(credentials !== undefined && { credentials: toCredentials(credentials) }),
      });
    }
  }
  return { usable, problems };
}

/** The problem with the first secret that is written out instead of referred to; undefined if there is none. */
function literalSecret(server: string, credentials: CredentialsConfig): ServerProblem | undefined {
  const all = Object.entries(credentials).flatMap(([scheme, credential]) => secretsIn(scheme, credential));
  const literal = all.find(([, text]) => readReference(text) === undefined);
  if (literal === undefined) return undefined;
  const fix = "Write env:NAME, with the environment variable that holds it, or file:/path.";
  return { server, field: literal[0], message: "is not a reference to a secret", fix };
}

/** Where a credential must have references, and what it has there. */
function secretsIn(scheme: string, credential: CredentialConfig): readonly (readonly [string, string])[] {
  const field = `credentials.${scheme}`;
  if (!isPlainObject(credential)) return [[field, String(credential)]];
  return Object.entries(credential)
    .filter(([key]) => key === "password" || key === "client_secret")
    .map(([key, text]) => [`${field}.${key}`, String(text)]);
}

/** Credentials as a source takes them: the same, in camelCase. */
function toCredentials(written: CredentialsConfig): Readonly<Record<string, Credential>> {
  const camel = (credential: CredentialConfig): unknown =>
    typeof credential === "string"
      ? credential
      : Object.fromEntries(Object.entries(credential).map(([key, value]) => [toCamel(key), value]));
  return Object.fromEntries(
    Object.entries(written).map(([scheme, credential]) => [scheme, camel(credential) as Credential]),
  );
}
