import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { fillMembers } from "../../../guard/secrets/fill-members.ts";
import type { Secrets, SecretUse } from "../../../guard/secrets/secrets.ts";
import type { Caller } from "../../../tool/handler.ts";
import type { ClientTokens } from "./client-tokens.ts";
import { encodeStrictly } from "../openapi/call/write-parameter.ts";
import type { Located } from "../openapi/read/servers.ts";
import type { Requirement, Security } from "./security.ts";
import type { BasicCredential, ClientCredential, Credential, CredentialSettings } from "./settings.ts";

/** What a request carries so that its server knows the caller. */
export interface Authorization {
  readonly headers: Record<string, string>;
  /** `name=value`, encoded. */
  readonly query: string[];
  readonly cookies: string[];
  /** The token that was asked for, to be forgotten where the server refuses it. */
  token?: string;
}

/** For whom a request is made, and until when. */
export interface AuthorizeOptions {
  readonly signal: AbortSignal;
  readonly caller?: Caller | undefined;
}

/** Finds what one request needs. */
export type Authorize = (security: Security, operation: string, options: AuthorizeOptions) => Promise<Authorization>;

/** What authorizing needs. */
export interface AuthorizeParts {
  readonly settings: CredentialSettings;
  readonly secrets: Secrets;
  readonly tokens: ClientTokens;
  /** The whole address of a token endpoint, and whether the operator vouches for it; undefined if it is not whole. */
  readonly locate: (url: string) => Located | undefined;
}

/** Creates what finds a request's credentials: those of the first set of requirements that the settings can satisfy. */
export function createAuthorize({ settings, secrets, tokens, locate }: AuthorizeParts): Authorize {
  const credentials: Readonly<Record<string, Credential>> = settings.credentials ?? {};
  const credentialOf = (name: string): Credential | undefined =>
    Object.hasOwn(credentials, name) ? credentials[name] : undefined;
  const canSatisfy = ({ name, scheme }: Requirement): boolean =>
    scheme.type === "mutualTLS"
      ? settings.tls !== undefined
      : scheme.type !== "unsupported" && credentialOf(name) !== undefined;

  const useOf = (field: string, { signal, caller }: AuthorizeOptions): SecretUse => ({
    scope: settings.name,
    field,
    principal: caller,
    signal,
  });

  async function satisfy(requirement: Requirement, draft: Authorization, options: AuthorizeOptions): Promise<void> {
    const { name, scheme, scopes } = requirement;
    const credential = credentialOf(name);
    const field = `credentials.${name}`;
    if (credential === undefined || scheme.type === "mutualTLS") return;
    if (scheme.type === "basic") {
      const { username, password } = asBasic(credential, field);
      const user = await secrets.fill(username, useOf(`${field}.username`, options));
      const word = password === undefined ? "" : await secrets.resolve(password, useOf(`${field}.password`, options));
      const encoded = Buffer.from(`${user}:${word}`).toString("base64");
      secrets.redactor.add(encoded);
      draft.headers["authorization"] = `Basic ${encoded}`;
      return;
    }
    if (isClient(credential)) {
      if (scheme.type !== "oauth2") throw misconfigured(field, `${field} has a clientId, but ${name} is no OAuth 2`);
      const token = await getToken(credential, { name, tokenUrl: scheme.tokenUrl, scopes }, options);
      secrets.redactor.add(token);
      draft.token = token;
      draft.headers["authorization"] = `Bearer ${token}`;
      return;
    }
    if (typeof credential === "object")
      throw misconfigured(field, `${field} has a username, but ${name} is not HTTP Basic`);
    const secret = await secrets.resolve(credential, useOf(field, options));
    if (scheme.type !== "apiKey") draft.headers["authorization"] = `Bearer ${secret}`;
    else if (scheme.in === "header") draft.headers[scheme.name.toLowerCase()] = secret;
    else {
      const pair = `${encodeStrictly(scheme.name)}=${encodeStrictly(secret)}`;
      draft[scheme.in === "query" ? "query" : "cookies"].push(pair);
    }
  }

  async function getToken(
    credential: ClientCredential,
    scheme: { readonly name: string; readonly tokenUrl: string | undefined; readonly scopes: readonly string[] },
    options: AuthorizeOptions,
  ): Promise<string> {
    const field = `credentials.${scheme.name}`;
    const { clientId, clientSecret, scopes = scheme.scopes, sendIn = "header" } = credential;
    const tokenUrl = credential.tokenUrl ?? scheme.tokenUrl;
    if (tokenUrl === undefined)
      throw misconfigured(`${field}.tokenUrl`, `The document names no tokenUrl for ${scheme.name}`);
    const found = credential.tokenUrl === undefined ? locate(tokenUrl) : { url: tokenUrl, trusted: true };
    if (found === undefined) throw misconfigured(`${field}.tokenUrl`, `${tokenUrl} is no whole address`);
    const request = {
      scheme: scheme.name,
      tokenUrl: found.url,
      trusted: found.trusted,
      scopes,
      sendIn,
      clientId: await secrets.fill(clientId, useOf(`${field}.clientId`, options)),
      clientSecret: await secrets.resolve(clientSecret, useOf(`${field}.clientSecret`, options)),
    };
    return tokens.get(request, options.signal);
  }

  return async (security, operation, options) => {
    const draft: Authorization = { headers: {}, query: [], cookies: [] };
    const own = await fillMembers(settings.headers ?? {}, secrets, useOf("headers", options));
    for (const [name, value] of Object.entries(own)) draft.headers[name.toLowerCase()] = value;
    const chosen = security.find((set) => set.length > 0 && set.every(canSatisfy));
    for (const requirement of chosen ?? []) await satisfy(requirement, draft, options);
    const isOpen = security.length === 0 || security.some((set) => set.length === 0);
    // Headers of the operator's own may be what the API wants, whatever its document says.
    if (chosen === undefined && !isOpen && settings.headers === undefined) throw lacksCredentials(security, operation);
    return draft;
  };
}

function isClient(credential: Credential): credential is ClientCredential {
  return typeof credential === "object" && "clientId" in credential;
}

function asBasic(credential: Credential, field: string): BasicCredential {
  if (typeof credential === "object" && "username" in credential) return credential;
  throw misconfigured(field, `${field} is for HTTP Basic: it needs a username and a password`);
}

function lacksCredentials(security: Security, operation: string): ArsenalError {
  const ways = security.map((set) => set.map(({ name, scheme }) => `${name} (${describe(scheme)})`).join(" and "));
  const usable = security.flat().find(({ scheme }) => scheme.type !== "unsupported");
  const fix = usable === undefined ? "Set headers." : `Set ${settingOf(usable)}.`;
  const message = `${operation} needs credentials: ${ways.join(", or ")}. ${fix}`;
  return new ArsenalError("CONFIG_INVALID", message, { field: "credentials", fix, beforeSend: true });
}

function settingOf({ name, scheme }: Requirement): string {
  return scheme.type === "mutualTLS" ? "tls.cert and tls.key" : `credentials.${name}`;
}

function describe(scheme: Requirement["scheme"]): string {
  if (scheme.type === "apiKey") return `key in the ${scheme.in} ${scheme.name}`;
  if (scheme.type === "unsupported") return `${scheme.what}, which is not supported`;
  if (scheme.type === "mutualTLS") return "a client certificate";
  return scheme.type === "oauth2" ? "OAuth 2" : `HTTP ${scheme.type}`;
}

function misconfigured(field: string, problem: string): ArsenalError {
  const fix = `Fix ${field}.`;
  return new ArsenalError("CONFIG_INVALID", `${problem}. ${fix}`, { field, fix, beforeSend: true });
}
