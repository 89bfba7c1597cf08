import { type ArsenalError, fixable, withoutFix } from "../../../errors/arsenal-error.ts";
import { count } from "../../../errors/show-value.ts";
import { fillMembers } from "../../../guard/secrets/fill-members.ts";
import type { Secrets, SecretUse } from "../../../guard/secrets/secrets.ts";
import type { SourceFinding } from "../../../register/source.port.ts";
import type { Caller, EndedRequest } from "../../../tool/handler.ts";
import type { ClientTokens } from "./client-tokens.ts";
import { encodeStrictly } from "../openapi/call/write-parameter.ts";
import type { Located } from "../openapi/read/servers.ts";
import type { Requirement, Security } from "./security.ts";
import type { UserLogin } from "./user-login.ts";
import type { ClientCredential, Credential, CredentialSettings } from "./settings.ts";

export interface Authorization {
  readonly headers: Record<string, string>;
  /** `name=value`, encoded. */
  readonly query: string[];
  readonly cookies: string[];
  /** The token in use. It is forgotten if the server refuses it. */
  token?: string;
  /** Makes the next call renew the caller's token, after the server refused it. */
  expire?: () => Promise<void>;
}

/** The caller and the deadline of a request. */
export interface AuthorizeOptions {
  readonly signal: AbortSignal;
  readonly caller?: Caller | undefined;
}

export type Authorize = (security: Security, operation: string, options: AuthorizeOptions) => Promise<Authorization>;

/** Creates a function that finds the credentials of a request. It uses the first set of requirements that the settings satisfy. */
export function createAuthorize(parts: {
  readonly settings: CredentialSettings;
  readonly secrets: Secrets;
  readonly tokens: ClientTokens;
  /** Resolves the address of a token endpoint, and returns whether the operator configured it. Undefined if the address is not absolute. */
  readonly locate: (url: string) => Located | undefined;
  /** Returns the sign-in for a scheme; undefined if callers do not sign in. */
  readonly loginOf?: ((scheme: string) => UserLogin | undefined) | undefined;
}): Authorize {
  const { settings, secrets, tokens, locate, loginOf } = parts;
  const useOf = (field: string, { signal, caller }: AuthorizeOptions): SecretUse => ({
    scope: settings.name,
    field,
    principal: caller,
    signal,
  });

  async function satisfy(requirement: Requirement, draft: Authorization, options: AuthorizeOptions) {
    const { name, scheme, scopes } = requirement;
    const credential = credentialOf(settings, name);
    const field = `credentials.${name}`;
    if (credential === undefined || scheme.type === "mutualTLS") return;
    const wrong = wrongKind(requirement, credential);
    if (wrong !== undefined) throw wrong;
    if (typeof credential === "object" && "username" in credential) {
      const { username, password } = credential;
      const user = await secrets.fill(username, useOf(`${field}.username`, options));
      const word = password === undefined ? "" : await secrets.resolve(password, useOf(`${field}.password`, options));
      const encoded = Buffer.from(`${user}:${word}`).toString("base64");
      secrets.redactor.add(encoded);
      draft.headers["authorization"] = `Basic ${encoded}`;
    } else if (typeof credential === "object" && "account" in credential) {
      const { caller } = options;
      const login = loginOf?.(name);
      if (login === undefined || caller === undefined)
        throw misconfigured(
          field,
          `${field} requires a gateway at which callers sign in, and http addresses of the authorization server`,
        );
      const own = await login.token(caller);
      if (own !== undefined) {
        secrets.redactor.add(own);
        draft.expire = () => login.expire(caller, own);
        draft.headers["authorization"] = `Bearer ${own}`;
      } else {
        const { clientSecret } = credential;
        if (clientSecret === undefined) throw misconfigured(`${field}.clientSecret`, `${field} has no clientSecret`);
        const tokenUrl = scheme.type === "oauth2" ? (scheme.tokenUrl ?? scheme.login?.tokenUrl) : undefined;
        draft.token = await getToken({ ...credential, clientSecret }, { name, tokenUrl, scopes }, options);
        secrets.redactor.add(draft.token);
        draft.headers["authorization"] = `Bearer ${draft.token}`;
      }
    } else if (typeof credential === "object") {
      const tokenUrl = scheme.type === "oauth2" ? scheme.tokenUrl : undefined;
      const token = await getToken(credential, { name, tokenUrl, scopes }, options);
      secrets.redactor.add(token);
      draft.token = token;
      draft.headers["authorization"] = `Bearer ${token}`;
    } else {
      const secret = await secrets.resolve(credential, useOf(field, options));
      if (scheme.type !== "apiKey") draft.headers["authorization"] = `Bearer ${secret}`;
      else if (scheme.in === "header") draft.headers[scheme.name.toLowerCase()] = secret;
      else
        draft[scheme.in === "query" ? "query" : "cookies"].push(
          `${encodeStrictly(scheme.name)}=${encodeStrictly(secret)}`,
        );
    }
  }

  async function getToken(
    { clientId, clientSecret, ...credential }: ClientCredential,
    scheme: { readonly name: string; readonly tokenUrl: string | undefined; readonly scopes: readonly string[] },
    options: AuthorizeOptions,
  ): Promise<string> {
    const field = `credentials.${scheme.name}`;
    const tokenUrl = credential.tokenUrl ?? scheme.tokenUrl ?? "";
    const found = credential.tokenUrl === undefined ? locate(tokenUrl) : { url: tokenUrl, trusted: true };
    if (found === undefined) throw misconfigured(`${field}.tokenUrl`, `${tokenUrl} is not an absolute address`);
    const request = {
      scheme: scheme.name,
      tokenUrl: found.url,
      trusted: found.trusted,
      scopes: credential.scopes ?? scheme.scopes,
      sendIn: credential.sendIn ?? "header",
      clientId: await secrets.fill(clientId, useOf(`${field}.clientId`, options)),
      clientSecret: await secrets.resolve(clientSecret, useOf(`${field}.clientSecret`, options)),
    };
    return tokens.get(request, options.signal);
  }

  return async (security, operation, options) => {
    const draft: Authorization = { headers: {}, query: [], cookies: [] };
    const own = await fillMembers(settings.headers ?? {}, secrets, useOf("headers", options));
    for (const [name, value] of Object.entries(own)) draft.headers[name.toLowerCase()] = value;
    const chosen = choose(security, settings);
    for (const requirement of chosen ?? []) await satisfy(requirement, draft, options);
    if (chosen === undefined && needsCredentials(security, settings)) throw lacksCredentials(security, operation);
    return draft;
  };
}

/**
 * Returns the error that every call with these requirements would end with; undefined if the settings have credentials of the right kind. Reads no
 * secrets.
 */
export function credentialProblem(
  security: Security,
  settings: CredentialSettings,
  operation: string,
): ArsenalError | undefined {
  const chosen = choose(security, settings);
  if (chosen === undefined)
    return needsCredentials(security, settings) ? lacksCredentials(security, operation) : undefined;
  for (const requirement of chosen) {
    const credential = credentialOf(settings, requirement.name);
    const wrong = credential && wrongKind(requirement, credential);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Groups calls that would fail before they are sent, by reason. `otherwise` is an alternative to the fix, for operators. */
export function refusedCalls(
  calls: readonly { readonly title: string; readonly error: ArsenalError | undefined }[],
  otherwise = "",
): readonly SourceFinding[] {
  const reasons = new Map<string, { readonly error: ArsenalError; readonly titles: string[] }>();
  for (const { title, error } of calls) {
    if (error === undefined) continue;
    const known = reasons.get(error.message);
    if (known === undefined) reasons.set(error.message, { error, titles: [title] });
    else known.titles.push(title);
  }
  return Array.from(reasons.values(), ({ error, titles }) => {
    const [first = ""] = titles;
    const which = titles.length === 1 ? first : `${count(titles.length, "operation")}, such as ${first},`;
    const fix = `${error.details.fix ?? ""} ${otherwise}`.trim();
    return { state: "failed", message: `${withoutFix(error)} ${which} cannot be called.`, fix };
  });
}

/** Returns the first set of requirements that the settings have credentials for. */
function choose(security: Security, settings: CredentialSettings): Security[number] | undefined {
  const canSatisfy = ({ name, scheme }: Requirement): boolean =>
    scheme.type === "mutualTLS"
      ? settings.tls !== undefined
      : scheme.type !== "unsupported" && credentialOf(settings, name) !== undefined;
  return security.find((set) => set.length > 0 && set.every(canSatisfy));
}

/** False if the operator configured headers: they may be the credentials, whatever schemes the document declares. */
function needsCredentials(security: Security, { headers }: CredentialSettings): boolean {
  const isOpen = security.length === 0 || security.some((set) => set.length === 0);
  return !isOpen && headers === undefined;
}

function credentialOf({ credentials = {} }: CredentialSettings, name: string): Credential | undefined {
  return Object.hasOwn(credentials, name) ? credentials[name] : undefined;
}

/** Returns the error for a credential that does not match the kind of its scheme. */
function wrongKind({ name, scheme }: Requirement, credential: Credential): ArsenalError | undefined {
  const field = `credentials.${name}`;
  const hasUser = typeof credential === "object" && "username" in credential;
  if (scheme.type === "basic")
    return hasUser ? undefined : misconfigured(field, `${field} is for HTTP Basic: it needs a username and a password`);
  if (hasUser) return misconfigured(field, `${field} has a username, but ${name} is not HTTP Basic`);
  if (typeof credential !== "object") return undefined;
  if (scheme.type !== "oauth2") return misconfigured(field, `${field} has a clientId, but ${name} is not OAuth 2`);
  if ("account" in credential) {
    if (credential.account === "user_or_gateway" && credential.clientSecret === undefined)
      return misconfigured(`${field}.clientSecret`, `${field} has account user_or_gateway but no clientSecret`);
    const { authorizationUrl = scheme.login?.authorizationUrl, tokenUrl = scheme.login?.tokenUrl } = credential;
    if (authorizationUrl !== undefined && tokenUrl !== undefined) return undefined;
    const missing = authorizationUrl === undefined ? "authorizationUrl" : "tokenUrl";
    return misconfigured(`${field}.${missing}`, `The document names no ${missing} for ${name}`);
  }
  if (credential.tokenUrl !== undefined || scheme.tokenUrl !== undefined) return undefined;
  return misconfigured(`${field}.tokenUrl`, `The document names no tokenUrl for ${name}`);
}

/** Adds credentials to a request. This is the last step, so arguments cannot replace them. */
export function authorized(
  url: string,
  headers: Readonly<Record<string, string>>,
  authorization: Authorization,
  ownCookies: readonly string[] = [],
) {
  const { headers: secret, query } = authorization;
  const cookies = [...ownCookies, ...authorization.cookies, secret["cookie"]].filter((each) => each !== undefined);
  return {
    url: query.length === 0 ? url : `${url}${url.includes("?") ? "&" : "?"}${query.join("&")}`,
    headers: {
      "user-agent": "toolarsenal",
      ...headers,
      ...secret,
      ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
    },
    secretHeaders: Object.keys(secret),
  };
}

/** Returns the server of a request, for traces. */
export function placeOf(url: string): Pick<EndedRequest, "transport" | "address" | "port"> {
  const { hostname, port, protocol } = new URL(url);
  return { transport: "http", address: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}

function lacksCredentials(security: Security, operation: string): ArsenalError {
  const ways = security.map((set) => set.map((each) => `${each.name} (${describe(each.scheme)})`).join(" and "));
  const { name, scheme } = security.flat().find((each) => each.scheme.type !== "unsupported") ?? {};
  const setting = scheme?.type === "mutualTLS" ? "tls.cert and tls.key" : `credentials.${name}`;
  const fix = scheme === undefined ? "Set headers." : `Set ${setting}.`;
  const problem = `${operation} needs credentials: ${ways.join(", or ")}.`;
  return fixable("CONFIG_INVALID", problem, fix, { field: "credentials", beforeSend: true });
}

function describe(scheme: Requirement["scheme"]): string {
  if (scheme.type === "apiKey") return `key in the ${scheme.in} ${scheme.name}`;
  if (scheme.type === "unsupported") return `${scheme.what}, which is not supported`;
  if (scheme.type === "mutualTLS") return "a client certificate";
  return scheme.type === "oauth2" ? "OAuth 2" : `HTTP ${scheme.type}`;
}

function misconfigured(field: string, problem: string): ArsenalError {
  return fixable("CONFIG_INVALID", `${problem}.`, `Fix ${field}.`, { field, beforeSend: true });
}
