import { signal } from "@preact/signals";
import { type ArsenalClient, createClient, type GatewayInfo, isArsenalError } from "../../src/client/index.ts";

const KEY = "toolarsenal.key";

/** Who is signed in: unknown until the gateway was asked, and nobody if it wants credentials. */
export const caller = signal<"unknown" | "signed-in" | "signed-out">("unknown");

/** Whom the gateway takes the reader for. */
export const identity = signal<GatewayInfo["caller"] | undefined>(undefined);

/** Whether the reader signed in with a key, and so can sign out. */
export const hasKey = (): boolean => sessionStorage.getItem(KEY) !== null;

/** The token of this page, which the gateway demands of requests that change something. It is in the page itself. */
const pageToken = document.querySelector<HTMLMetaElement>("meta[name=page-token]")?.content;

/** The gateway that served the page, asked with the key that was typed, if one was. */
export function gateway(): ArsenalClient {
  return (current ??= connect());
}

let current: ArsenalClient | undefined;

function connect(): ArsenalClient {
  const apiKey = sessionStorage.getItem(KEY);
  return createClient({
    url: location.origin,
    ...(apiKey !== null && { apiKey }),
    ...(pageToken !== undefined && { headers: { "x-page-token": pageToken } }),
  });
}

/** Signs in with a key, which this tab keeps until it is closed. Rejects if the gateway refuses it. */
export async function signIn(apiKey: string): Promise<void> {
  sessionStorage.setItem(KEY, apiKey);
  await disconnect();
  try {
    await check();
  } catch (error) {
    await signOut();
    throw error;
  }
}

/** Forgets the key. */
export async function signOut(): Promise<void> {
  sessionStorage.removeItem(KEY);
  await disconnect();
  identity.value = undefined;
  caller.value = "signed-out";
}

async function disconnect(): Promise<void> {
  await current?.close();
  current = undefined;
}

/** Asks the gateway whether it knows the caller. */
export async function check(): Promise<void> {
  try {
    identity.value = (await gateway().info()).caller;
    caller.value = "signed-in";
  } catch (error) {
    // Don't ask for a key because the gateway is down: each page says what it could not load.
    caller.value = isArsenalError(error) && error.code === "TRANSPORT_FAILED" ? "signed-in" : "signed-out";
    throw error;
  }
}

check().catch(() => {});
