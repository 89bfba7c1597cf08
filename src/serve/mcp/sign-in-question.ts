import { randomUUID } from "node:crypto";
import type { ToolResult } from "../../execute/result.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Connections } from "../connections.ts";
import { CONNECTIONS_PAGE } from "../ui/connections.ts";
import type { ClientSignIn, Exchange } from "./plane.ts";

/** Returns how the callers of a gateway sign in to servers. Undefined for clients that cannot open URLs, and without a dashboard. */
export function createSignIn(
  connections: Connections | undefined,
  addressFor: ((called: string | undefined) => string) | undefined,
) {
  return ({ peer, headers }: Pick<Exchange, "peer" | "headers">): ClientSignIn | undefined => {
    const { capabilities, principal } = peer;
    const { elicitation } = capabilities;
    if (connections === undefined || !isPlainObject(elicitation) || !isPlainObject(elicitation["url"]))
      return undefined;
    const base = addressFor?.(headers["host"]) ?? "";
    if (base === "") return undefined;
    return {
      pageOf: (server) => `${base}${CONNECTIONS_PAGE}?${new URLSearchParams({ server }).toString()}`,
      done: (server, signal) => connections.signedIn(server, principal, signal),
    };
  };
}

/**
 * Prompts the person at the client to sign in to the server that a call needs, and waits for the sign-in. Returns false if the call does not need it,
 * or if the person declines. The page authenticates the person, so that the tokens belong to the caller.
 */
export async function signInForCall(
  ran: ToolResult,
  { ask, signal, signIn, resumed }: Pick<Exchange, "ask" | "signal" | "signIn" | "resumed">,
): Promise<boolean> {
  const { error } = ran;
  if (error?.code !== "SIGN_IN_REQUIRED" || typeof error.value !== "string" || signIn === undefined) return false;
  const server = error.value;
  const question = {
    mode: "url",
    message: `Sign in to ${server} to continue.`,
    url: signIn.pageOf(server),
    elicitationId: randomUUID(),
  };
  try {
    const answer = resumed?.answer ?? (await ask("elicitation/create", question, { signal, resume: { ran } }));
    if (answer["action"] !== "accept") return false;
    await signIn.done(server, signal);
    return true;
  } catch (failure) {
    if (signal.aborted) throw failure;
    return false;
  }
}
