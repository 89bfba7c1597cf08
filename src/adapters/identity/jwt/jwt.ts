import type { Surroundings } from "../../surroundings.ts";
import { choice, entry, type Filled, list, object, optional, text, texts } from "../../../tool/shape/shape.ts";
import type * as Jose from "jose";
import type { errors, JWTHeaderParameters, JWTPayload, JWTVerifyGetKey } from "jose";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { bearerCredential } from "../../../guard/identity/any-identity.ts";
import { createEgress, type Egress } from "../../../guard/egress/egress.ts";
import type { Credentials, Identified, Identity } from "../../../guard/identity.port.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";
import { type ClaimNames, toGroups, toPrincipal } from "./claims.ts";
import { createIssuer } from "./issuer.ts";
import { createIssuerKeys, createKeySet } from "./issuer-keys.ts";
import { checkSignIn, createSignIn, reservedParameter, type SignInSettings } from "./sign-in.ts";

/** The accepted tokens, and the claims that describe the caller. */
export interface JwtOptions {
  /** The value of `iss` in tokens. An https address, or an http one on this machine. */
  readonly issuer: string;
  /** The accepted values of `aud`. Defaults to the requested address and its parent addresses. */
  readonly audience?: string | readonly string[];
  /** The address of the issuer's keys. Defaults to the address in its metadata. */
  readonly jwksUri?: string;
  /** Defaults to RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly JwtAlgorithm[];
  /** Scopes that every token must have. */
  readonly scopes?: readonly string[];
  /** Capabilities of every caller, in addition to those in the token. */
  readonly capabilities?: readonly Capability[];
  readonly claims?: ClaimNames;
  /** Allows users to sign in to the dashboard through the issuer. If omitted, they need an API key. */
  readonly signIn?: SignInSettings;
  readonly egress?: Egress;
  readonly secrets?: Secrets;
  readonly clock?: Clock;
}

const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const ELLIPTIC = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const;

/** Asymmetric algorithms only: a verifier must not be able to sign. */
const JWT_ALGORITHMS = [...RSA, ...ELLIPTIC] as const;
type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

const DEFAULT_ALGORITHMS: readonly JwtAlgorithm[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];

/** The tolerated difference between the clocks of two machines, in seconds. */
const LEEWAY_S = 30;

/** Authenticates callers by access tokens of an OAuth 2 or OpenID Connect issuer. The tokens are JWTs, signed with a key that the issuer publishes. */
export function jwtIdentity(options: JwtOptions): Identity {
  const { issuer, clock = systemClock, scopes: needed = [], capabilities = [], claims = {} } = options;
  const { algorithms = DEFAULT_ALGORITHMS } = options;
  checkOptions(options);
  const audience = options.audience === undefined ? undefined : [options.audience].flat();
  const known = createIssuer({ ...options, egress: options.egress ?? createEgress(), clock });
  const fetchKeys = createIssuerKeys(known, options.jwksUri);
  let prepared: ReturnType<typeof prepare> | undefined;

  /** Loads jose on the first token. */
  async function prepare(): Promise<{ readonly jose: typeof Jose; readonly keyOf: JWTVerifyGetKey }> {
    const jose = await import("jose");
    const isUnknownKey = (error: unknown): boolean => error instanceof jose.errors.JWKSNoMatchingKey;
    return { jose, keyOf: createKeySet({ clock, fetchKeys, toLookUp: jose.createLocalJWKSet, isUnknownKey }) };
  }

  /** Returns the claims of a token that is valid for this issuer and audience, or the reason why it is invalid. */
  async function verify(token: string, resource: string | undefined): Promise<JWTPayload | string> {
    const { jose, keyOf } = await (prepared ??= prepare());
    try {
      const { payload, protectedHeader } = await jose.jwtVerify(token, keyOf, {
        algorithms: [...algorithms],
        issuer,
        ...(audience === undefined ? {} : { audience }),
        requiredClaims: ["exp", "aud"],
        clockTolerance: LEEWAY_S,
        currentDate: new Date(clock.now()),
      });
      if (audience === undefined && !isFor(payload, resource)) return "The token is for another audience.";
      return whyNotAccessToken(protectedHeader, payload) ?? payload;
    } catch (error) {
      if (error instanceof jose.errors.JOSEError) return whyRefused(error);
      throw error;
    }
  }

  async function identify({ headers, resource }: Credentials): Promise<Identified> {
    const token = bearerCredential(headers["authorization"]);
    if (token === undefined) return {};
    if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return invalid("The token is malformed.");
    const payload = await verify(token, resource);
    if (typeof payload === "string") return invalid(payload);
    const principal = toPrincipal(payload, claims, capabilities);
    if (typeof principal === "string") {
      // Keeps only characters that are valid in a header.
      const claim = principal.replaceAll(/[^\u0020-\u007e]|["\\]/g, "?");
      return invalid(`The token lacks the claim ${claim}.`);
    }
    const missing = needed.filter((scope) => !principal.scopes.includes(scope));
    if (missing.length === 0) return { principal, groups: toGroups(payload, claims) };
    const description = `The token lacks the scope ${missing.join(" ")}.`;
    return { refusal: { error: "insufficient_scope", description, scopes: needed } };
  }

  return {
    name: "jwt",
    challenge: 'Bearer realm="toolarsenal"',
    identify,
    authenticate: async (credentials) => (await identify(credentials)).principal,
    tokenOrigin: { authorizationServers: [issuer], scopes: needed },
    ...(options.signIn && {
      signIn: createSignIn({
        scopes: ["openid", ...needed],
        ...options.signIn,
        issuer: known,
        secrets: options.secrets ?? createSecrets(),
      }),
    }),
  };
}

function isFor({ aud = [] }: JWTPayload, resource: string | undefined): boolean {
  return resource !== undefined && [aud].flat().some((audience) => covers(audience, resource));
}

function invalid(description: string): Identified {
  return { refusal: { error: "invalid_token", description } };
}

function checkOptions({ issuer, jwksUri, algorithms = DEFAULT_ALGORITHMS, scopes = [], signIn }: JwtOptions): void {
  if (!isSecure(issuer)) throw wrong("issuer", issuer, "Write the issuer's https address, as its tokens have it.");
  if (jwksUri !== undefined && !isSecure(jwksUri)) throw wrong("jwksUri", jwksUri, "Write an https address.");
  const other = algorithms.find((algorithm) => !JWT_ALGORITHMS.includes(algorithm));
  if (other !== undefined || algorithms.length === 0)
    throw wrong("algorithms", other, `Use one or more of ${JWT_ALGORITHMS.join(", ")}.`);
  const odd = [...scopes, ...(signIn?.scopes ?? [])].find(
    (scope) => !/^[\u0021\u0023-\u005b\u005d-\u007e]+$/.test(scope),
  );
  if (odd !== undefined) throw wrong("scopes", odd, "Write each scope as a separate entry, without blanks and quotes.");
  const reserved = signIn && reservedParameter(signIn);
  if (reserved !== undefined)
    throw wrong("signIn.parameters", reserved, `Remove ${reserved}, which the gateway sets itself.`);
}

/** True for https, and for http on this machine, which cannot be intercepted. */
function isSecure(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.hash !== "" || url.username !== "" || url.password !== "") return false;
  return (
    url.protocol === "https:" || (url.protocol === "http:" && /^(?:127\.[\d.]+|localhost|\[::1\])$/.test(url.hostname))
  );
}

function wrong(field: string, value: unknown, fix: string): ArsenalError {
  return fixable("CONFIG_INVALID", `${field} of jwt cannot be used.`, fix, { field, value });
}

export const config = entry(
  "Callers with access tokens of an OAuth 2 or OpenID Connect issuer.",
  {
    issuer: text("URL of the issuer, exactly as in the iss claim of its tokens."),
    audience: list(
      "Accepted audiences: the aud claim must contain one of them. Defaults to the URL that the caller called.",
      text("An audience."),
    ),
    jwksUri: text("URL of the issuer's keys (JWKS). Defaults to the URL in the issuer's metadata."),
    algorithms: list(
      "Accepted signature algorithms. Defaults to RS256, PS256, ES256, EdDSA and Ed25519.",
      choice("An algorithm.", JWT_ALGORITHMS),
    ),
    scopes: list("Scopes that every token must have.", text("A scope.")),
    capabilities: list(
      "Capabilities of every caller, in addition to those in its token.",
      choice("A capability.", CAPABILITIES),
    ),
    claims: optional(
      object("Names of the token's claims that describe the caller. Write nested claims as a path with dots.", {
        id: text("Claim with the caller's id. Defaults to sub."),
        tenant: text(
          "Claim with the caller's tenant. If set, a token without this claim is refused. Not read by default.",
        ),
        roles: text("Claim with the caller's roles. Defaults to roles."),
        capabilities: text("Claim with the caller's capabilities. Defaults to capabilities."),
        scopes: text("Claim with the caller's scopes. Defaults to scope, or to scp if the token has no scope."),
        groups: text("Claim with the caller's groups, which tenants map to roles. Defaults to groups."),
      }),
    ),
    signIn: entry(
      "Lets people sign in to the dashboard through the issuer. Register the gateway there as a client with the redirect URI PUBLIC_URL/ui/sign-in/callback.",
      {
        clientId: text("Client id of the gateway at the issuer."),
        clientSecret: text("The client's secret, or a secret reference such as env:NAME. Omit it for a public client."),
        scopes: list(
          "Scopes to request. Defaults to openid and the scopes that every token must have.",
          text("A scope."),
        ),
        parameters: texts(
          "More parameters of the authorization request, such as Auth0's audience. An empty resource removes the parameter resource.",
        ),
      },
      ["clientId"],
    ),
  },
  ["issuer"],
);

export function create(
  settings: Filled<typeof config>,
  { egress, secrets }: Pick<JwtOptions, "egress" | "secrets"> = {},
): Identity {
  return jwtIdentity({ ...settings, ...(egress && { egress }), ...(secrets && { secrets }) });
}

export async function check(
  { signIn, ...settings }: Filled<typeof config>,
  { egress, secrets }: Pick<Surroundings, "egress" | "secrets">,
): Promise<string | undefined> {
  return signIn && checkSignIn(signIn, { issuer: createIssuer({ ...settings, egress }), secrets });
}

/** Claims that only an ID token has. */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash", "s_hash"];

/**
 * Returns why a verified token is not an access token; undefined if it is one. An ID token only identifies the user to its client, and must not grant
 * access to tools.
 */
function whyNotAccessToken({ typ }: Pick<JWTHeaderParameters, "typ">, payload: JWTPayload): string | undefined {
  const kind = (typ ?? "jwt").toLowerCase().replace(/^application\//, "");
  if (kind !== "jwt" && kind !== "at+jwt") return "The token is not an access token.";
  if (ID_TOKEN_CLAIMS.some((claim) => payload[claim] !== undefined)) return "The token is an ID token.";
  const client = payload["azp"] ?? payload["client_id"];
  const audience = [payload.aud ?? []].flat();
  // Only the type JWT is ambiguous, because RFC 9068 gave access tokens their own type.
  if (kind === "jwt" && typeof client === "string" && audience.includes(client))
    return "The token's audience is its own client, so it may be an ID token.";
  if (payload["cnf"] !== undefined) return "The token is bound to a key, which a bearer token cannot prove.";
  return undefined;
}

/** Describes the problem of a token without quoting it. */
function whyRefused(error: errors.JOSEError): string {
  if (error.code !== "ERR_JWT_CLAIM_VALIDATION_FAILED") return REFUSALS[error.code] ?? "The token is malformed.";
  return WRONG_CLAIMS[(error as errors.JWTClaimValidationFailed).claim] ?? "A claim of the token is invalid.";
}

const REFUSALS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "The token has expired.",
  ERR_JOSE_ALG_NOT_ALLOWED: "The token is signed with an algorithm that is not accepted.",
  ERR_JWKS_NO_MATCHING_KEY: "The token is signed with a key that its issuer does not publish.",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "The signature of the token is invalid.",
};

const WRONG_CLAIMS: Readonly<Record<string, string>> = {
  iss: "The token is from another issuer.",
  aud: "The token is for another audience.",
  nbf: "The token is not valid yet.",
  exp: "The token has no expiry.",
};

/**
 * True if a token for `audience` is valid for `resource`: the addresses are equal, or the resource is below the audience. A token for
 * `https://tools.example.com/mcp` is valid at `/mcp/upstreams/files`, but not the reverse. @internal
 */
export function covers(audience: string, resource: string): boolean {
  const [wide, narrow] = [canonical(audience), canonical(resource)];
  return wide !== undefined && narrow !== undefined && (narrow === wide || narrow.startsWith(`${wide}/`));
}

/** Returns an address with scheme and host in lower case, and without a trailing slash. Undefined if it is not a plain address. */
function canonical(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return undefined;
  return (url.origin + url.pathname).replace(/\/$/, "");
}
