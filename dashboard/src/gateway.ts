import { signal } from "@preact/signals";
import { type ArsenalClient, createClient } from "../../src/client/index.ts";

const KEY = "toolarsenal.key";

/** Who is signed in: unknown until the gateway was asked, and nobody if it wants credentials. */
export const caller = signal<"unknown" | "signed-in" | "signed-out">("unknown");

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
  await signOutQuietly();
  await check();
}

/** Forgets the key. */
export async function signOut(): Promise<void> {
  sessionStorage.removeItem(KEY);
  await signOutQuietly();
  caller.value = "signed-out";
}

async function signOutQuietly(): Promise<void> {
  await current?.close();
  current = undefined;
}

/** Asks the gateway whether it knows the caller. */
export async function check(): Promise<void> {
  try {
    await gateway().toolCount;
    caller.value = "signed-in";
  } catch (error) {
    caller.value = "signed-out";
    throw error;
  }
}

check().catch(() => {});
