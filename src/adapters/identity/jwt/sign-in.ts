import { hash, randomBytes } from "node:crypto";
import { ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { SignIn } from "../../../guard/identity.port.ts";
import type { SecretReference } from "../../../guard/secrets/reference.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";
import { words } from "../../../tool/schema/keywords.ts";
import { type Issuer, unusable } from "./issuer.ts";

/** The gateway's registration as a client of the issuer, for users who sign in to the dashboard. */
export interface SignInSettings {
  readonly clientId: string;
  /** The secret of a confidential client, or a reference to it. Omitted for a public client. */
  readonly clientSecret?: SecretReference | string;
  /** Defaults to `openid` and the scopes that every token must have. */
  readonly scopes?: readonly string[];
  /** Additional parameters of the authorization request, such as Auth0's `audience`. `resource` replaces the gateway's own; an empty text omits it. */
  readonly parameters?: Readonly<Record<string, string>>;
}

interface SignInParts extends SignInSettings {
  readonly scopes: readonly string[];
  readonly issuer: Issuer;
  readonly secrets: Secrets;
}

const OWN_PARAMETERS = words(
  "client_id client_secret code_challenge code_challenge_method redirect_uri response_mode response_type scope state",
);

/** Returns the first additional parameter that would break the sign-in; undefined if all are valid. */
export function reservedParameter({ parameters = {} }: SignInSettings): string | undefined {
  return Object.keys(parameters).find((name) => OWN_PARAMETERS.has(name));
}

const SECRET_USE = { scope: "server.auth.jwt", field: "sign_in.client_secret" };

async function endpoint(issuer: Issuer, name: "authorization_endpoint" | "token_endpoint"): Promise<string> {
  const address = issuer.address(await issuer.metadata(), name);
  if (address === undefined) throw unusable(issuer.name, `its metadata has no usable ${name}`);
  return address;
}

/** Checks that sign-in works: the issuer responds and has the endpoints, and the client's secret is available. */
export async function checkSignIn(
  { clientSecret }: SignInSettings,
  { issuer, secrets }: Pick<SignInParts, "issuer" | "secrets">,
): Promise<string> {
  if (clientSecret !== undefined) await secrets.fill(clientSecret, SECRET_USE);
  await issuer.metadata().catch((cause: unknown) => {
    if (!isArsenalError(cause) || cause.details.fix !== undefined) throw cause;
    const fix = "Check server.auth.jwt.issuer, and that this machine can reach it.";
    throw fixable(cause.code, `${cause.message.replace(/\.$/, "")}.`, fix, { cause });
  });
  await endpoint(issuer, "authorization_endpoint");
  await endpoint(issuer, "token_endpoint");
  return `people sign in at ${new URL(issuer.name).host}`;
}

/** Signs users in with the authorization code flow of OAuth 2, with PKCE (RFC 7636) and a resource indicator (RFC 8707). */
export function createSignIn({ clientId, clientSecret, scopes, parameters, issuer, secrets }: SignInParts): SignIn {
  const name = new URL(issuer.name).host;

  const resourceOf = (resource: string): { readonly resource?: string } => {
    const { resource: chosen = resource } = parameters ?? {};
    return chosen === "" ? {} : { resource: chosen };
  };

  /** Returns the gateway's client credentials for the token endpoint. */
  async function proof(): Promise<{ headers?: Record<string, string>; form: Record<string, string> }> {
    if (clientSecret === undefined) return { form: { client_id: clientId } };
    const secret = await secrets.fill(clientSecret, SECRET_USE);
    const { token_endpoint_auth_methods_supported: methods } = await issuer.metadata();
    if (Array.isArray(methods) && methods.includes("client_secret_post") && !methods.includes("client_secret_basic"))
      return { form: { client_id: clientId, client_secret: secret } };
    const basic = Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString("base64");
    return { headers: { authorization: `Basic ${basic}` }, form: {} };
  }

  /** True unless the response names another issuer (RFC 9207). */
  async function isOurs({ iss }: Readonly<Record<string, string>>): Promise<boolean> {
    if (iss !== undefined) return iss === issuer.name;
    return (await issuer.metadata())["authorization_response_iss_parameter_supported"] !== true;
  }

  return {
    name,
    onlyWay: true,
    async begin({ state, redirectUri, resource }) {
      const verifier = randomBytes(32).toString("base64url");
      const url = new URL(await endpoint(issuer, "authorization_endpoint"));
      const { resource: _chosen, ...more } = parameters ?? {};
      const asked = {
        ...more,
        ...resourceOf(resource),
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(" "),
        state,
        code_challenge: hash("sha256", verifier, "base64url"),
        code_challenge_method: "S256",
      };
      for (const [key, value] of Object.entries(asked)) url.searchParams.set(key, value);
      return { url: url.href, verifier };
    },
    async finish(answer, { verifier, redirectUri, resource }) {
      if (!(await isOurs(answer))) throw refused("The response is from another issuer. Sign in again.");
      const { code } = answer;
      if (answer["error"] !== undefined) throw refused(`${name} did not sign you in: ${reason(answer)}`);
      if (code === undefined) throw unusable(issuer.name, "it sent neither a code nor an error");
      const { headers = {}, form } = await proof();
      const { status, body = {} } = await issuer.ask(await endpoint(issuer, "token_endpoint"), {
        method: "POST",
        headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...resourceOf(resource),
          ...form,
        }).toString(),
      });
      const { access_token: token, token_type: type } = body;
      if (body["error"] === "invalid_client")
        throw unusable(issuer.name, "it does not accept this client", CHECK_CLIENT);
      if (body["error"] !== undefined) throw refused(`${name} refused to complete the sign-in: ${reason(body)}`);
      if (status !== 200 || typeof token !== "string")
        throw unusable(issuer.name, `its token endpoint answered ${status} without a token`);
      if (String(type).toLowerCase() !== "bearer")
        throw unusable(issuer.name, "it issued a token that is not a Bearer token");
      if (token.split(".").length !== 3) throw unusable(issuer.name, "it issued an opaque access token", ASK_FOR_JWT);
      return token;
    },
    async end(returnTo) {
      const address = issuer.address(await issuer.metadata(), "end_session_endpoint");
      if (address === undefined) return undefined;
      const url = new URL(address);
      url.searchParams.set("client_id", clientId);
      url.searchParams.set("post_logout_redirect_uri", returnTo);
      return url.href;
    },
  };

  /** Describes an OAuth error. Removes secrets that the issuer may repeat. */
  function reason({ error, error_description: description }: Readonly<Record<string, unknown>>): string {
    const said =
      typeof description === "string" && description !== "" ? `${String(error)} (${description})` : String(error);
    return `${secrets.redactor.text(said).slice(0, MAX_REASON)}. Sign in again.`;
  }
}

const MAX_REASON = 300;

const CHECK_CLIENT = "Check client_id and client_secret of server.auth.jwt.sign_in.";

const ASK_FOR_JWT =
  "Register the gateway as an API at the issuer and ask for a token for it: with Auth0 set server.auth.jwt.sign_in.parameters.audience, with Entra ID a scope of that API in sign_in.scopes.";

function refused(message: string): ArsenalError {
  return new ArsenalError("UNAUTHENTICATED", message);
}

/** Encodes a text for Basic credentials (RFC 6749, 2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
