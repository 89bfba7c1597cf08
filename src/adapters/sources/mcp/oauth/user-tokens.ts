import { createHash, randomBytes } from "node:crypto";
import { keyFrom, openText, sealText } from "../../../../base/sealed-text.ts";
import { pause } from "../../../../base/turns/until-aborted.ts";
import { fixable } from "../../../../errors/arsenal-error.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { SharedState } from "../../../../state/shared-state.ts";
import type { Caller } from "../../../../tool/handler.ts";
import { NO_CREDENTIALS, type ServerCredentials, type TokenStore, tokensOf } from "./credentials.ts";

/** Stores the tokens of people who sign in to servers, in the shared state. */
export type UserTokens = ReturnType<typeof createUserTokens>;

/** Identifies a person. */
export type Account = Pick<Caller, "id" | "tenant">;

type TokenState = Pick<SharedState, "documents" | "changes" | "leases">;

const TOKENS = "connections/tokens/";
const ATTEMPTS = "connections/attempts/";
const LATEST = "connections/latest/";
const KEY = "connections/key";
const TOPIC = "connections";
const LEASE = "connections/renewal/";
/** A lease on renewing a token lasts this long if its process ends. */
const LEASE_MS = 60_000;
const TRY_AGAIN_MS = 100;
/** How long a person has to sign in, in milliseconds. */
export const ATTEMPT_MS = 600_000;

/** Creates the store of tokens. `sealKey` is the configured secret that encrypts them. If omitted, a key is kept in the same state. */
export function createUserTokens(
  { documents, changes, leases }: TokenState,
  { sealKey, clock }: { readonly sealKey?: (() => Promise<string>) | undefined; readonly clock: Clock },
) {
  let loading: Promise<Uint8Array> | undefined;
  const key = (): Promise<Uint8Array> =>
    (loading ??= loadKey().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));

  async function loadKey(): Promise<Uint8Array> {
    if (sealKey !== undefined) return keyFrom(await sealKey());
    for (;;) {
      const kept = await documents.get(KEY);
      if (kept !== undefined) return Buffer.from(String(kept.value), "base64url");
      await documents.set(KEY, randomBytes(32).toString("base64url"), { ifVersion: "absent" });
    }
  }

  async function open(sealed: unknown, purpose: string): Promise<unknown> {
    const text = typeof sealed === "string" ? openText(sealed, await key(), purpose) : undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  const placeOf = (account: Account, serverUrl: string): string => TOKENS + digest([keyOf(account), serverUrl]);

  async function read(place: string): Promise<{ kept: ServerCredentials; version: number | "absent" }> {
    const entry = await documents.get(place);
    const kept = entry && ((await open(entry.value, place)) as ServerCredentials | undefined);
    return { kept: kept ?? NO_CREDENTIALS, version: entry?.version ?? "absent" };
  }

  const changed = (account: Account, serverUrl: string): Promise<void> =>
    // A process that misses the change notices it when it next uses the token.
    changes.publish(TOPIC, { account: keyOf(account), serverUrl }).catch(() => undefined);

  /** Returns the tokens of one person. */
  function of(account: Account): TokenStore {
    const turns = new Map<string, Promise<unknown>>();
    return {
      read: async (serverUrl) => (await read(placeOf(account, serverUrl))).kept,
      async update(serverUrl, change) {
        const place = placeOf(account, serverUrl);
        for (;;) {
          const { kept, version } = await read(place);
          const next = change(kept);
          const sealed = sealText(JSON.stringify(next), await key(), place);
          if (!(await documents.set(place, sealed, { ifVersion: version }))) continue;
          await changed(account, serverUrl);
          return next;
        }
      },
      exclusively(serverUrl, work) {
        const turn = (turns.get(serverUrl) ?? Promise.resolve())
          .catch(() => undefined)
          .then(() => alone(serverUrl, work));
        turns.set(serverUrl, turn);
        return turn;
      },
    };

    async function alone<Result>(serverUrl: string, work: () => Promise<Result>): Promise<Result> {
      const name = LEASE + placeOf(account, serverUrl).slice(TOKENS.length);
      for (;;) {
        const lease = await leases.acquire(name, { ttlMs: LEASE_MS });
        if (lease === undefined) {
          await pause(TRY_AGAIN_MS, clock);
          continue;
        }
        try {
          return await work();
        } finally {
          await lease.release().catch(() => undefined);
        }
      }
    }
  }

  return {
    of,
    async isSignedIn(account: Account, serverUrl: string): Promise<boolean> {
      return tokensOf((await read(placeOf(account, serverUrl))).kept) !== undefined;
    },
    /** Deletes a person's tokens. Other processes stop using them within a second. */
    async forget(account: Account, serverUrl: string): Promise<ServerCredentials> {
      const place = placeOf(account, serverUrl);
      const { kept } = await read(place);
      await documents.delete(place);
      await changed(account, serverUrl);
      return kept;
    },
    /** Calls the listener when a person's tokens for a server change, in any process. Returns a function that stops the watch. */
    watch(listener: (change: { readonly account: string; readonly serverUrl: string }) => void): () => void {
      return changes.subscribe(TOPIC, (data) => listener(data as { account: string; serverUrl: string }));
    },
    /** Returns the person who last signed in to a server and is still signed in; undefined if there is none. */
    async latest(serverUrl: string): Promise<Account | undefined> {
      const kept = await documents.get(LATEST + digest([serverUrl]));
      const account = kept?.value as Account | undefined;
      if (account === undefined) return undefined;
      return tokensOf((await read(placeOf(account, serverUrl))).kept) === undefined ? undefined : account;
    },
    async signedIn({ id, tenant }: Account, serverUrl: string): Promise<void> {
      const account = { id, ...(tenant !== undefined && { tenant }) };
      await documents.set(LATEST + digest([serverUrl]), account);
      await changed(account, serverUrl);
    },
    /** Stores the data of a sign-in until the person returns, to any process. */
    async keepAttempt(state: string, attempt: object): Promise<void> {
      const place = ATTEMPTS + digest([state]);
      const sealed = sealText(JSON.stringify(attempt), await key(), place);
      await documents.set(place, sealed, { expiresAt: clock.now() + ATTEMPT_MS });
    },
    /** Takes the stored data of a sign-in. Works only once. */
    async takeAttempt(state: string): Promise<unknown> {
      const place = ATTEMPTS + digest([state]);
      const entry = await documents.get(place);
      if (entry === undefined || !(await documents.delete(place, { ifVersion: entry.version }))) return undefined;
      return open(entry.value, place);
    },
  };
}

/** Returns a key for a person and its tenant. */
export function keyOf({ id, tenant }: Account): string {
  return JSON.stringify([tenant ?? null, id]);
}

/** The error for a caller who has not signed in to the server. */
export function needsSignIn(server: string, who: string, { hasCommand = true } = {}) {
  const problem = `${JSON.stringify(who)} is not signed in to "${server}".`;
  const page = `Sign in to "${server}" on the page Connections of the dashboard`;
  const fix = hasCommand ? `${page}, or run: toolarsenal login ${server}` : `${page}.`;
  return fixable("SIGN_IN_REQUIRED", problem, fix, { field: "connection", value: server, beforeSend: true });
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
