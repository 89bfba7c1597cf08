import { randomBytes } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { identified } from "../../guard/identity/any-identity.ts";
import type { Identity, SignIn, SignInAttempt } from "../../guard/identity.port.ts";
import type { Emit } from "../../observe/events.ts";
import { basePathOf } from "../http/allowed-callers.ts";
import { refuseMethodWithProblem, requestIdOf } from "../http/problem.ts";
import type { Seal, SealBinding } from "../mcp/modern/seal.ts";
import type { HttpExchange, Route } from "../surface.ts";

/** The data for the dashboard's page when a person returns from the issuer. */
export interface SignInOutcome {
  /** The page to show: a path below `/ui`, as the browser sees it. */
  readonly to: string;
  /** The bearer token of the person who signed in. */
  readonly token?: string;
  /** The reason why the sign-in failed. */
  readonly problem?: string;
}

export interface SignInParts {
  readonly identity: Identity;
  readonly signIn: SignIn;
  /** Every process on the same state can open texts that another one sealed, so any process can answer the callback. */
  readonly seal: Pick<Seal, "seal" | "open">;
  readonly emit?: Emit | undefined;
  show(exchange: HttpExchange, outcome: SignInOutcome, status: number, headers: OutgoingHttpHeaders): Promise<void>;
}

/** The data that a browser stores during a sign-in at the issuer. */
interface SealedAttempt {
  readonly state: string;
  readonly verifier: string;
  readonly to: string;
}

const UI = "/ui";
const PATH = `${UI}/sign-in`;
const CALLBACK = `${PATH}/callback`;
const ATTEMPT_S = 600;
const BINDING: SealBinding = { principal: { id: "page" }, plane: "page", method: "sign-in", params: {} };

/** Maximum length of the address in the cookie. */
const MAX_PLACE = 500;

/**
 * Creates the routes for signing in to the dashboard at an issuer. The gateway stores nothing: an attempt is sealed in a cookie that only the
 * callback gets. The token goes into the page, which stores it like an API key.
 */
export function signInRoutes({ identity, signIn, seal, emit, show }: SignInParts): readonly Route[] {
  async function begin({ url, address, response }: HttpExchange): Promise<void> {
    const state = randomBytes(16).toString("hex");
    const { url: location, verifier } = await signIn.begin({ ...attemptAt(address), state });
    const attempt: SealedAttempt = { state, verifier, to: placeOf(url.searchParams.get("to"), address) };
    const sealed = seal.seal({ ...attempt }, BINDING, ATTEMPT_S * 1000);
    redirect(response, location, { "set-cookie": cookie(state, address, sealed, ATTEMPT_S) });
  }

  async function finish(exchange: HttpExchange): Promise<void> {
    const { url, address, request } = exchange;
    const answer = Object.fromEntries(url.searchParams);
    const { state = "" } = answer;
    const attempt = seal.open(cookieOf(request.headers.cookie, state), BINDING) as SealedAttempt | undefined;
    if (attempt === undefined) {
      const problem = `This sign-in was not started in this browser, or took longer than ten minutes. Sign in again, at ${address}${UI}.`;
      return fail(exchange, 400, problem);
    }
    const { to } = attempt;
    if (attempt.state !== state) {
      const problem = "The answer does not belong to the sign-in that this browser started. Sign in again.";
      return fail(exchange, 400, problem, to);
    }
    const done = { "set-cookie": cookie(state, address, "", 0) };
    try {
      const token = await signIn.finish(answer, { ...attemptAt(address), verifier: attempt.verifier });
      const authorization = `Bearer ${token}`;
      const resource = `${address}/api/v1`;
      const { principal, refusal } = await identified(identity, { headers: { authorization }, resource });
      if (principal !== undefined) return await show(exchange, { token, to }, 200, done);
      const why = refusal?.description ?? "It identifies no caller.";
      const problem = `The gateway does not accept the token that ${signIn.name} issued. ${why} Check audience, scopes and sign_in of server.auth.jwt.`;
      await fail(exchange, 403, problem, to, done);
    } catch (error) {
      await failWith(exchange, error, to, done);
    }
  }

  async function end({ address, response }: HttpExchange): Promise<void> {
    // The page has already deleted its token, so the sign-out works even if the issuer is unavailable.
    const location = await signIn.end(address + UI).catch(() => undefined);
    redirect(response, location ?? basePathOf(address) + UI);
  }

  function fail(
    exchange: HttpExchange,
    status: number,
    problem: string,
    to = basePathOf(exchange.address) + UI,
    headers: OutgoingHttpHeaders = {},
  ): Promise<void> {
    return show(exchange, { to, problem }, status, headers);
  }

  /** Shows the person only problems that the person can fix. Other problems are only in the operator's log. */
  function failWith(exchange: HttpExchange, error: unknown, to: string, headers?: OutgoingHttpHeaders): Promise<void> {
    const code = isArsenalError(error) ? error.code : undefined;
    const message = messageOf(error);
    if (code === "UNAUTHENTICATED") return fail(exchange, 403, message, to, headers);
    const { request, url } = exchange;
    emit?.("request-failed", { requestId: requestIdOf(request), path: url.pathname, message });
    const away = `Cannot sign in at ${signIn.name} now. Retry in a moment. If it fails again, ask the operator of this gateway to check its log.`;
    return fail(exchange, 502, code === "PROTOCOL_ERROR" ? message : away, to, headers);
  }

  const route = (path: string, answer: (exchange: HttpExchange) => Promise<void>): Route => ({
    path,
    open: true,
    async handle(exchange) {
      if (exchange.request.method !== "GET") return refuseMethodWithProblem(exchange.request, exchange.response, "GET");
      await answer(exchange).catch((error: unknown) =>
        failWith(exchange, error, placeOf(exchange.url.searchParams.get("to"), exchange.address)),
      );
    },
  });
  return [route(PATH, begin), route(CALLBACK, finish), route(`${PATH}/out`, end)];
}

function attemptAt(address: string): SignInAttempt {
  return { redirectUri: address + CALLBACK, resource: address };
}

function redirect(response: HttpExchange["response"], location: string, headers: OutgoingHttpHeaders = {}): void {
  response
    .writeHead(302, { ...headers, location, "cache-control": "no-store", "referrer-policy": "no-referrer" })
    .end();
}

/** Returns the dashboard page to open after signing in. Any other address, such as another site, becomes the dashboard's first page. */
function placeOf(to: string | null, address: string): string {
  const base = "http://localhost";
  const prefix = basePathOf(address);
  const ui = prefix + UI;
  const url = to === null || to.length > MAX_PLACE ? null : URL.parse(to, base);
  if (url === null || url.origin !== base) return ui;
  const { pathname, search } = url;
  const isPage = (pathname === ui || pathname.startsWith(`${ui}/`)) && !pathname.startsWith(prefix + PATH);
  return isPage ? pathname + search : ui;
}

/**
 * Returns a cookie name, so that several tabs can sign in at the same time. There are only 16 names, chosen by the first digit of the state, to keep
 * the header short.
 */
function cookieName(state: string): string {
  return `toolarsenal-sign-in-${/^[0-9a-f]/.exec(state)?.[0] ?? "0"}`;
}

function cookie(state: string, address: string, value: string, seconds: number): string {
  const secure = address.startsWith("https:") ? "; Secure" : "";
  return `${cookieName(state)}=${value}; Path=${basePathOf(address)}${PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieOf(header: string | undefined, state: string): string {
  const prefix = `${cookieName(state)}=`;
  const found = header?.split(/; */).find((each) => each.startsWith(prefix));
  return found?.slice(prefix.length) ?? "";
}
