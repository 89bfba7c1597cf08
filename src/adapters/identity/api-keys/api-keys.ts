import * as setting from "../../../tool/shape/shape.ts";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { bearerCredential } from "../../../guard/identity/any-identity.ts";
import type { Credentials, Identified, Identity } from "../../../guard/identity.port.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { hashOfKey, isKeyAt, KEY_HASH, KEY_NAME, nameInKey, readKeyFile, type StoredKey } from "./key-file.ts";
import { KEYS_TOPIC, type KeyState, stateKeys } from "./state-keys.ts";

export type { StoredKey } from "./key-file.ts";

/** The shortest interval between two reads of the keys. A revoked key stops working within a second, even if reading is slow. */
const LOOK_EVERY_MS = 500;

/** Compared if no key has the name, so the timing does not reveal existing names. */
const NO_KEY = { hash: `sha256:${"0".repeat(64)}` } as StoredKey;

/** Authenticates callers by keys of the form `ta_NAME_SECRET`, sent as `X-API-Key` or `Authorization: Bearer …`. Only hashes of the keys are stored. */
export function apiKeys(options: { readonly keys: readonly StoredKey[]; readonly clock?: Clock }): Identity {
  const byName = toMap(options.keys);
  return identityOver(() => byName, options.clock);
}

/** Authenticates callers by the keys in a file of `toolarsenal keys`. Added or revoked keys take effect within a second. */
export async function apiKeyFile(path: string, options: { readonly clock?: Clock } = {}): Promise<Identity> {
  const current = readOften(() => readKeyFile(path), options.clock);
  await current();
  return identityOver(current, options.clock);
}

/** Authenticates callers by the keys in a shared state. Added or revoked keys take effect within a second in every process. */
export function apiKeyState(state: KeyState, options: { readonly clock?: Clock } = {}): Identity {
  const stored = stateKeys(state);
  let changes = 0;
  const watchers = new Set<() => void>();
  state.changes.subscribe(KEYS_TOPIC, () => {
    changes++;
    for (const changed of watchers) changed();
  });
  return {
    ...identityOver(
      readOften(stored.read, options.clock, () => changes),
      options.clock,
    ),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
  };
}

/** Reads the keys again after half a second or after a change. Rejects if they cannot be read, because a key may have been revoked. */
function readOften(
  read: () => Promise<readonly StoredKey[]>,
  clock: Clock = systemClock,
  version: () => number = () => 0,
): () => Promise<Keys> {
  let last: { readonly keys: Promise<Keys>; readonly since: number; readonly version: number } | undefined;
  return () => {
    if (last?.version === version() && clock.now() - last.since < LOOK_EVERY_MS) return last.keys;
    const next = { keys: read().then(toMap), since: clock.now(), version: version() };
    last = next;
    next.keys.catch(() => (last = last === next ? undefined : last));
    return next.keys;
  };
}

type Keys = ReadonlyMap<string, StoredKey>;

function identityOver(current: () => Keys | Promise<Keys>, clock: Clock = systemClock): Identity {
  async function identify({ headers }: Credentials): Promise<Identified> {
    const text = headers["x-api-key"] ?? bearerCredential(headers["authorization"]);
    if (typeof text !== "string") return {};
    const name = nameInKey(text);
    const hash = hashOfKey(text);
    const find = async (): Promise<StoredKey | undefined> => {
      const key = name === undefined ? undefined : (await current()).get(name);
      return isKeyAt(key ?? NO_KEY, hash, clock.now()) ? key : undefined;
    };
    const key = await find();
    if (key !== undefined) return { principal: key.principal, isValid: async () => (await find()) !== undefined };
    return { refusal: { error: "invalid_token", description: "The key is unknown, has expired or was revoked." } };
  }

  return {
    name: "api-keys",
    challenge: 'Bearer realm="toolarsenal"',
    identify,
    authenticate: async (credentials) => (await identify(credentials)).principal,
  };
}

function toMap(keys: readonly StoredKey[]): Keys {
  const byName = new Map<string, StoredKey>();
  for (const key of keys) {
    if (byName.has(key.id)) throw wrongKey(key.id, "is there twice", "Give each key its own name.");
    if (!KEY_NAME.test(key.id) || !KEY_HASH.test(key.hash))
      throw wrongKey(key.id, "has an invalid name or hash", "Create the key with: toolarsenal keys create NAME");
    byName.set(key.id, key);
  }
  return byName;
}

function wrongKey(name: string, why: string, fix: string): ArsenalError {
  return fixable("CONFIG_INVALID", `The API key ${JSON.stringify(name)} ${why}.`, fix, { field: "keys", value: name });
}

export const config = setting.entry(
  "Callers with API keys.",
  {
    file: setting.path("File with the keys, written by `toolarsenal keys` and readable only by its user."),
    state: setting.flag(
      "Whether the keys are kept in the shared state instead of a file, so that every process accepts them.",
    ),
  },
  [],
);

export async function create(
  { file, state: isShared }: setting.Filled<typeof config>,
  { state }: { readonly state?: () => KeyState },
): Promise<Identity> {
  if (isShared === true && state !== undefined) return apiKeyState(state());
  if (file !== undefined) return apiKeyFile(file);
  const fix = "Set server.auth.api_keys.file, or state: true.";
  throw fixable("CONFIG_INVALID", "No store is configured for API keys.", fix, { field: "server.auth.api_keys" });
}
