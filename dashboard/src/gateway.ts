import { signal } from "@preact/signals";
import { type ArsenalClient, createClient, type GatewayInfo, isArsenalError } from "../../src/client/index.ts";
import { GATEWAY } from "./router.ts";
import { accepted, forget, keep, key, leave, renew, signInProblem } from "./session.ts";

/** The sign-in state. It is unknown until the gateway has responded. */
export const caller = signal<"unknown" | "signed-in" | "signed-out">("unknown");

/** The caller's identity, according to the gateway. */
export const identity = signal<GatewayInfo["caller"] | undefined>(undefined);

/** Returns whether the user may use an operation of the REST API, by its id. True until the identity is known. */
export const may = (operation: string): boolean => identity.value?.operations.includes(operation) ?? true;

/** The reason why the user must sign in. Empty on the first visit. */
export const signedOutBecause = signal(signInProblem);

/** Returns whether the user signed in, so that signing out is possible. */
export const hasKey = (): boolean => key() !== undefined;

/** The token in this page, which the gateway requires for requests that are not reads. */
const pageToken = document.querySelector<HTMLMetaElement>("meta[name=page-token]")?.content;

/** Returns a client of the gateway that served the page, with the user's key or token, if any. */
export function gateway(): ArsenalClient {
  return (current ??= connect());
}

/** Sends a request for which the client has no method. Rejects with the gateway's reason. */
export async function request<Value>(method: "GET" | "POST" | "DELETE", path: string): Promise<Value> {
  const proof = key();
  const response = await fetch(`${location.origin}${GATEWAY}/api/v1${path}`, {
    method,
    headers: {
      ...(proof !== undefined && { authorization: `Bearer ${proof}` }),
      ...(pageToken !== undefined && { "x-page-token": pageToken }),
    },
  });
  const body = (await response.json().catch(() => ({}))) as { readonly detail?: string };
  if (!response.ok) throw new Error(body.detail ?? `The gateway answered ${response.status}.`);
  return body as Value;
}

let current: ArsenalClient | undefined;

function connect(): ArsenalClient {
  const proof = key();
  return createClient({
    url: location.origin + GATEWAY,
    ...(proof !== undefined && (proof.startsWith("ta_") ? { apiKey: proof } : { token: proof })),
    ...(pageToken !== undefined && { headers: { "x-page-token": pageToken } }),
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (response.status !== 401 || proof === undefined || proof !== key()) return response;
      // The browser leaves this page now, so the refusal is not shown.
      if (renew()) return new Promise<never>(() => {});
      if (caller.value !== "signed-out") void refused(response.clone());
      return response;
    },
  });
}

/** Prompts the user to sign in again after the gateway refused the key or token. */
async function refused(response: Response): Promise<void> {
  const { detail = "" } = (await response.json().catch(() => ({}))) as { readonly detail?: string };
  await becomeNobody(`Sign in again. ${detail}`.trim());
}

/** Signs in with a key, which this tab stores until it is closed. Rejects if the gateway refuses the key. */
export async function signIn(apiKey: string): Promise<void> {
  keep(apiKey);
  await disconnect();
  try {
    await check();
  } catch (error) {
    await becomeNobody();
    throw error;
  }
}

/** Deletes the key or token, and signs out at its issuer. */
export async function signOut(): Promise<void> {
  if (await becomeNobody()) leave();
}

async function becomeNobody(because = ""): Promise<boolean> {
  const wasIssued = forget();
  await disconnect();
  identity.value = undefined;
  signedOutBecause.value = because;
  caller.value = "signed-out";
  return wasIssued;
}

async function disconnect(): Promise<void> {
  await current?.close();
  current = undefined;
}

export async function check(): Promise<void> {
  try {
    identity.value = (await gateway().info()).caller;
    accepted();
    caller.value = "signed-in";
  } catch (error) {
    // An unreachable gateway is not a reason to ask for a key: each page shows its own error.
    caller.value = isArsenalError(error) && error.code === "TRANSPORT_FAILED" ? "signed-in" : "signed-out";
    throw error;
  }
}

if (signInProblem === "") check().catch(() => {});
else caller.value = "signed-out";
