import { randomBytes } from "node:crypto";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";
import { type Clock, systemClock } from "../../../../observe/clock.ts";
import { isUnattended, type OAuthSettings } from "../settings.ts";
import { type Challenge, challengeOf, joinScopes, type ServerCredentials } from "./credentials.ts";
import { toOAuthFailure } from "./failures.ts";
import { createFlowClient, runFlow } from "./flow-client.ts";
import type { FetchLike } from "./guarded-fetch.ts";
import { oauthParts, type OAuthParts } from "./provider.ts";
import { listenForRedirect, type RedirectAnswer } from "./redirect-listener.ts";

/** The dependencies of a login, including the prompt for the person and a signal that aborts the login. */
export interface AuthorizeParts extends OAuthParts {
  readonly showUrl: (url: string) => void;
  /** Opens the address in a browser. If this is omitted or fails, the person opens the shown address. */
  readonly open?: (url: string) => void | Promise<void>;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

/** Logs in to one server: sends the person to the authorization server, receives the redirect on loopback, and stores the tokens. */
export async function authorize(settings: OAuthSettings, parts: AuthorizeParts): Promise<void> {
  const { serverName, serverUrl, signal } = parts;
  const { store, credentials, createFetch, identityGrant } = oauthParts(settings, parts);
  const isCancelled = (): boolean => signal?.aborted === true;
  if (isCancelled()) throw cancelled(serverName);
  const before = await store.read(serverUrl);
  const state = randomBytes(32).toString("base64url");
  const port = settings.redirectPort ?? portInUse(before);
  const listener = await listenForRedirect({ state, port, exactPort: settings.redirectPort !== undefined });
  try {
    const fetchFn = await createFetch({ signal });
    const challenge = before.wanted ?? (await askForChallenge(serverUrl, fetchFn));
    const scope = joinScopes(settings.scope, challenge.scope);
    let loginUrl: string | undefined;
    const filled = await credentials.fillOAuth(settings);
    const client = createFlowClient({
      settings: filled,
      identityGrant: await identityGrant(filled, fetchFn),
      serverUrl,
      store,
      redirectUri: isUnattended(settings) ? undefined : listener.redirectUri,
      scope,
      state,
      onRedirect: (url) => void (loginUrl = url.href),
    });
    await runFlow(client, { serverUrl, scope }, challenge, { fetchFn, anew: true });
    if (loginUrl === undefined) return;
    parts.showUrl(loginUrl);
    // Not awaited, because some commands that open a browser run until the browser closes.
    Promise.resolve(parts.open?.(loginUrl)).catch(() => undefined);

    const answer = await waitForPerson(listener.answer, parts);
    try {
      const { StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/client");
      // The transport is used only for its `finishAuth`, which checks the issuer before any other part of the redirect.
      await new Transport(new URL(serverUrl), { authProvider: client, fetch: fetchFn }).finishAuth(answer.params);
    } catch (error) {
      answer.reply(`The login to ${serverName} failed. The terminal says why.`, false);
      throw error;
    }
    await store.update(serverUrl, ({ wanted: _granted, ...kept }) => kept);
    answer.reply(`You are logged in to ${serverName}. You can close this window.`, true);
  } catch (error) {
    if (isCancelled()) throw cancelled(serverName);
    throw toOAuthFailure(error, serverName);
  } finally {
    await listener.close();
  }
}

/** Sends a request without a token to get the server's challenge. */
export async function askForChallenge(serverUrl: string, fetch: FetchLike): Promise<Challenge> {
  const response = await fetch(serverUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    // This request has no side effects on servers of either era, supported or not.
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  return response.status === 401 ? challengeOf(response.headers.get("www-authenticate")) : {};
}

/** Returns the port of this client's last registration, because many authorization servers accept no other port. */
function portInUse({ issuer, byIssuer }: ServerCredentials): number | undefined {
  const redirectUri = issuer === undefined ? undefined : byIssuer[issuer]?.redirectUri;
  return redirectUri === undefined ? undefined : Number(new URL(redirectUri).port);
}

async function waitForPerson(
  answer: Promise<RedirectAnswer>,
  { serverName, signal, timeoutMs = 300_000, clock = systemClock }: AuthorizeParts,
): Promise<RedirectAnswer> {
  const over = new AbortController();
  const stop = clock.after(timeoutMs, () => {
    const message = `Nobody answered the login to ${serverName} within ${Math.round(timeoutMs / 1000)} s.`;
    over.abort(new ArsenalError("TIMEOUT", message, { fix: `Run: toolarsenal login ${serverName}` }));
  });
  try {
    return await untilAborted(answer, AbortSignal.any(signal ? [signal, over.signal] : [over.signal]));
  } finally {
    stop();
  }
}

function cancelled(serverName: string): ArsenalError {
  return new ArsenalError("CANCELLED", `The login to ${serverName} was cancelled.`);
}
