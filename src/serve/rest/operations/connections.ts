import { fixable } from "../../../errors/arsenal-error.ts";
import { answer, type Operation, operationsOf, type RestContext } from "../operation.ts";
import { entry, flag, list, string } from "../../../tool/shape/shape.ts";
import type { Connections } from "../../connections.ts";
import { CALLBACK, signInCookie } from "../../ui/connections.ts";

const operation = operationsOf({ tag: "Connections" });

const CONNECTION = entry(
  "A server that callers sign in to themselves.",
  {
    server: string("The server's name."),
    url: string("The server's address."),
    signedIn: flag("True if you are signed in: your calls carry your own token."),
    scope: string("The granted scopes, if the authorization server named them."),
    hasFallback: flag("True if your calls use the login of the gateway until you sign in."),
  },
  ["server", "url", "signedIn", "hasFallback"],
);

const params = entry("", { server: string("The server's name.") }, ["server"]);

/** Operations with which a caller signs in to servers. Answers never contain a token. */
export const connectionOperations: readonly Operation[] = [
  operation("listConnections", "GET /connections", {
    summary: "List the servers that you sign in to yourself",
    needsTools: true,
    answers: { 200: answer("By name.", { connections: list("By name.", CONNECTION) }, ["connections"]) },
    run: async ({ principal }, { connections }) => ({
      body: { connections: (await connections?.list(principal)) ?? [] },
    }),
  }),
  operation("signInConnection", "POST /connections/{server}/sign-in", {
    summary: "Start to sign in to a server",
    description:
      "Open `url` in the browser that made this request: the answer sets a cookie that the browser needs when it comes back.",
    params,
    needsTools: true,
    answers: { 200: answer("Where to go.", { url: string("The page of the authorization server.") }, ["url"]) },
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
    description: "Forgets your tokens in every process within a second, and has the authorization server revoke them.",
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
