import { createKeyText, hashOfKey, KEY_NAME, type StoredKey } from "../adapters/identity/api-keys/key-file.ts";
import { type KeyState, stateKeys } from "../adapters/identity/api-keys/state-keys.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import { entry, type Filled, flag, refined, string, text, time } from "../tool/shape/shape.ts";
import { type Grant, GRANT } from "./tenant.ts";

export const KEY = entry(
  "An API key, without its secret text.",
  {
    name: refined(text("The name of the key. It is also the id of its caller."), { pattern: KEY_NAME.source }),
    tenant: string("The tenant of the key's caller. Omitted if the caller belongs to no tenant."),
    ...GRANT.properties,
    createdAt: time("When the key was created. Omitted for keys of earlier releases."),
    expiresAt: time("When the key expires. Omitted if it never expires."),
    previousUntil: time("Until when the previous secret is still accepted after a rotation."),
    expired: flag("True if the key has expired."),
  },
  ["name", "roles", "capabilities", "scopes"],
);

/** An API key as shown in responses and lists: without its text. */
export interface ApiKey extends Filled<typeof KEY> {}

/** A key with its text. The text is shown only once. */
export interface NewKey {
  readonly key: ApiKey;
  readonly text: string;
}

export interface KeyRequest extends Grant {
  readonly name: string;
  readonly tenant?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** The API keys in the shared state. `server.auth.api_keys.state: true` makes a gateway accept them. */
export function createKeys({ state, clock }: { readonly state: KeyState; readonly clock: Pick<Clock, "now"> }) {
  const stored = stateKeys(state);

  function shown({ id, principal, createdAt, expiresAt, previous }: StoredKey): ApiKey {
    const { tenant, roles, capabilities, scopes } = principal;
    const now = clock.now();
    return {
      name: id,
      ...(tenant !== undefined && { tenant }),
      roles,
      capabilities,
      scopes,
      ...(createdAt !== undefined && { createdAt }),
      ...(expiresAt !== undefined && { expiresAt, expired: expiresAt <= now }),
      ...(previous !== undefined && previous.until > now && { previousUntil: previous.until }),
    };
  }

  async function find(name: string): Promise<ApiKey | undefined> {
    return (await list()).find((key) => key.name === name);
  }

  async function list(): Promise<readonly ApiKey[]> {
    return (await stored.read()).map(shown).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  return {
    list,
    find,
    /** Returns undefined if the name is taken. */
    async create({ name, tenant, expiresAt, roles = [], capabilities = [], scopes = [] }: KeyRequest) {
      refuseExpired(expiresAt);
      const textOfKey = createKeyText(name);
      const principal = {
        id: name,
        ...(tenant !== undefined && { tenant }),
        roles,
        capabilities,
        scopes,
        local: false,
      };
      const times = { createdAt: Math.round(clock.now()), ...(expiresAt !== undefined && { expiresAt }) };
      const key: StoredKey = { id: name, hash: hashOfKey(textOfKey), principal, ...times };
      return (await stored.add(key)) ? { key: shown(key), text: textOfKey } : undefined;
    },
    /** Replaces the secret of a key. The old secret is accepted for another `overlapMs`. Returns undefined if no key has that name. */
    async rotate(
      name: string,
      { overlapMs, expiresAt }: { readonly overlapMs: number; readonly expiresAt?: number | undefined },
    ): Promise<NewKey | undefined> {
      refuseExpired(expiresAt);
      const textOfKey = createKeyText(name);
      let next: StoredKey | undefined;
      await stored.change(name, ({ previous: _previous, ...before }) => {
        const until = Math.round(clock.now() + overlapMs);
        next = {
          ...before,
          hash: hashOfKey(textOfKey),
          ...(expiresAt !== undefined && { expiresAt }),
          ...(overlapMs > 0 && { previous: { hash: before.hash, until } }),
        };
        return next;
      });
      return next && { key: shown(next), text: textOfKey };
    },
    /** Returns false if no key has that name. */
    revoke: (name: string): Promise<boolean> => stored.remove(name),
  };

  function refuseExpired(expiresAt: number | undefined): void {
    if (expiresAt === undefined || expiresAt > clock.now()) return;
    const problem = `The key would expire at ${new Date(expiresAt).toISOString()}, which is in the past.`;
    throw fixable("INPUT_INVALID", problem, "Give a later time.", { field: "expiresAt", value: expiresAt });
  }
}
