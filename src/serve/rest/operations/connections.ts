import { fixable } from "../../../errors/arsenal-error.ts";
import { answer, type Operation, operationsOf, type RestContext } from "../operation.ts";
import { entry, flag, list, string } from "../../../tool/shape/shape.ts";
import type { Connections } from "../../connections.ts";
import { CALLBACK, signInCookie } from "../../ui/connections.ts";

const operation = operationsOf({ tag: "Connections" });

const CONNECTION = entry(
  "A server to which each caller signs in.",
  {
    server: string("The server's name."),
    url: string("The server's URL."),
    signedIn: flag("True if you are signed in, so your calls use your own token."),
    scope: string("The granted scopes, if the authorization server named them."),
    hasFallback: flag("True if your calls use the gateway's login until you sign in."),
  },
  ["server", "url", "signedIn", "hasFallback"],
);

const params = entry("", { server: string("The server's name.") }, ["server"]);

/** Operations with which a caller signs in to servers. Answers never contain a token. */
export const connectionOperations: readonly Operation[] = [
  operation("listConnections", "GET /connections", {
    summary: "List the servers to which each caller signs in",
    needsTools: true,
    answers: {
      200: answer("The servers, ordered by name.", { connections: list("Ordered by name.", CONNECTION) }, [
        "connections",
      ]),
    },
    run: async ({ principal }, { connections }) => ({
      body: { connections: (await connections?.list(principal)) ?? [] },
    }),
  }),
  operation("signInConnection", "POST /connections/{server}/sign-in", {
    summary: "Start signing in to a server",
    description:
      "Open `url` in the same browser that made this request. The response sets a cookie that the browser needs when it returns to the gateway.",
    params,
    needsTools: true,
    answers: {
      200: answer("The address to open.", { url: string("The sign-in page of the authorization server.") }, ["url"]),
    },
    problems: ["ENSEMBLE_NOT_FOUND", "TRANSPORT_FAILED", "SOURCE_UNAVAILABLE", "PROTOCOL_ERROR"],
    async run({ params: { server }, principal, signal, header }, context) {
      const address = context.addressFor?.(header("host")) ?? context.address();
      const redirectUri = address + CALLBACK;
      const { url, state } = await connectionsOf(context).begin(server, principal, { redirectUri, signal });
      return { body: { url }, headers: { "set-cookie": signInCookie(state, address) } };
    },
  }),
  operation("signOutConnection", "DELETE /connections/{server}", {
    summary: "Sign out of a server",
    description: "Deletes your tokens in every process within a second, and revokes them at the authorization server.",
    params,
    answers: {
      200: answer("Done.", { signedOut: flag("False if you were not signed in.") }, ["signedOut"]),
    },
    problems: ["ENSEMBLE_NOT_FOUND"],
    run: async ({ params: { server }, principal }, context) => ({
      body: { signedOut: await connectionsOf(context).signOut(server, principal) },
    }),
  }),
];

function connectionsOf({ connections }: RestContext): Connections {
  if (connections !== undefined) return connections;
  const problem = "This gateway has no servers that callers sign in to.";
  throw fixable("ENSEMBLE_NOT_FOUND", problem, "Use the gateway that serves all tools.");
}
