import { createHash } from "node:crypto";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { basePathOf } from "../http/allowed-callers.ts";
import { refuseMethodWithProblem } from "../http/problem.ts";
import type { Connections } from "../connections.ts";
import type { HttpExchange, Route } from "../surface.ts";

/** The dashboard page on which people sign in to servers. */
export const CONNECTIONS_PAGE = "/ui/connections";
/** The path to which the authorization server redirects the browser. */
export const CALLBACK = `${CONNECTIONS_PAGE}/callback`;
const COOKIE_S = 600;

/** Binds a sign-in to the browser that started it, so that an attacker cannot make another person finish it. */
export function signInCookie(state: string, address: string, maxAge = COOKIE_S): string {
  const secure = address.startsWith("https:") ? "; Secure" : "";
  const path = basePathOf(address) + CALLBACK;
  return `${cookieName(state)}=1; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieName(state: string): string {
  return `toolarsenal-connection-${createHash("sha256").update(state).digest("hex").slice(0, 16)}`;
}

/** Creates the route to which the browser returns from an authorization server. It answers with the page that shows the outcome. */
export function connectionRoute(connections: Connections): Route {
  async function finish({ url, request }: HttpExchange): Promise<readonly [name: string, value: string]> {
    const state = url.searchParams.get("state") ?? "";
    const cookies = (request.headers.cookie ?? "").split(/;\s*/);
    if (!cookies.includes(`${cookieName(state)}=1`))
      return [
        "problem",
        "This sign-in was not started in this browser, or took longer than ten minutes. Start it again.",
      ];
    try {
      return ["signed-in", await connections.finish(url.searchParams)];
    } catch (error) {
      return [
        "problem",
        isArsenalError(error) ? error.message : "The sign-in failed. The gateway's log has the reason.",
      ];
    }
  }

  return {
    path: CALLBACK,
    open: true,
    async handle(exchange) {
      const { request, response, address, url } = exchange;
      if (request.method !== "GET") return refuseMethodWithProblem(request, response, "GET");
      const [name, value] = await finish(exchange);
      const location = `${basePathOf(address)}${CONNECTIONS_PAGE}?${new URLSearchParams({ [name]: value }).toString()}`;
      const cookie = signInCookie(url.searchParams.get("state") ?? "", address, 0);
      const headers = { location, "set-cookie": cookie, "cache-control": "no-store", "referrer-policy": "no-referrer" };
      response.writeHead(302, headers).end();
    },
  };
}
