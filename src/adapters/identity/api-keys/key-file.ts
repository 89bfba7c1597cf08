import { hash as hashOf, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { Principal } from "../../../guard/principal.ts";
import { isPlainObject, isTexts } from "../../../tool/json-schema.ts";
import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";
import { withFileLock } from "../../../system/file-lock.ts";
import { replaceFile } from "../../../system/replace-file.ts";

/** A stored key, without the key itself. */
export interface StoredKey {
  /** The name in the key. */
  readonly id: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly hash: string;
  readonly principal: Principal;
  /** Milliseconds since the epoch. Omitted for keys of earlier releases. */
  readonly createdAt?: number;
  /** Milliseconds since the epoch after which the key is refused. If omitted, the key never expires. */
  readonly expiresAt?: number;
  /** The key before the last rotation, which is accepted until `until`. */
  readonly previous?: { readonly hash: string; readonly until: number };
}

/** True if the hash belongs to the key, or to its predecessor while that is accepted. */
export function isKeyAt({ hash, expiresAt, previous }: StoredKey, given: string, now: number): boolean {
  if (expiresAt !== undefined && expiresAt <= now) return false;
  if (isSame(given, hash)) return true;
  return previous !== undefined && previous.until > now && isSame(given, previous.hash);
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

export interface KeyStore {
  /** The location of the hashes, for messages. */
  readonly place: string;
  read(): Promise<readonly StoredKey[]>;
  /** Returns false if a key with this name exists. */
  add(key: StoredKey): Promise<boolean>;
  /** Changes the caller, the expiry or the hash of a key. Returns false if no key has this name. */
  change(id: string, to: (key: StoredKey) => Omit<StoredKey, "id">): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}

export function fileKeys(path: string): KeyStore {
  return {
    place: path,
    read: () => readKeyFile(path),
    add: (key) => updateKeyFile(path, (known) => (known.some(({ id }) => id === key.id) ? known : [...known, key])),
    async change(name, to) {
      let isKnown = false;
      await updateKeyFile(path, (known) =>
        known.map((key) => {
          if (key.id !== name) return key;
          isKnown = true;
          return { ...to(key), id: key.id };
        }),
      );
      return isKnown;
    },
    remove: (name) => updateKeyFile(path, (known) => known.filter(({ id }) => id !== name)),
  };
}

/** Reads a key file. Refuses a file that other users can read. */
export async function readKeyFile(path: string): Promise<readonly StoredKey[]> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw unusable(path, "cannot be read", "Create one with: toolarsenal keys create NAME", cause);
  });
  const { mode } = await stat(path);
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw unusable(path, "can be read or written by other users", `Run: chmod 600 ${path}`);
  return parse(text, path);
}

/** Replaces the keys of a file atomically and exclusively. A missing file counts as empty. Returns true if the number of keys changed. */
export async function updateKeyFile(
  path: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
): Promise<boolean> {
  return withFileLock(`${path}.lock`, async () => {
    const known = existsSync(path) ? await readKeyFile(path) : [];
    const keys = change(known);
    await replaceFile(path, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
    return keys.length !== known.length;
  });
}

function parse(text: string, path: string): readonly StoredKey[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw unusable(path, "is not JSON", "Restore it, or delete it and create new keys.", cause);
  }
  const { version, keys } = isPlainObject(content) ? content : {};
  if (version !== 1 || !Array.isArray(keys))
    throw unusable(path, 'is not a key file: it lacks "version": 1 and "keys"', "Restore it, or remove it.");
  return keys.map((entry: unknown, index) => {
    const key = toStoredKey(entry);
    if (key !== undefined) return key;
    throw unusable(path, `has an entry, keys.${index}, that is not a key`, "Fix it, or create a new key.");
  });
}

export function toStoredKey(entry: unknown): StoredKey | undefined {
  if (!isPlainObject(entry) || !isPlainObject(entry["principal"])) return undefined;
  const { id: name, hash, principal } = entry;
  const { id, tenant, roles, capabilities, scopes } = principal as Record<string, unknown>;
  if (typeof name !== "string" || !KEY_NAME.test(name)) return undefined;
  if (typeof hash !== "string" || !KEY_HASH.test(hash)) return undefined;
  if (typeof id !== "string" || id === "" || (tenant !== undefined && typeof tenant !== "string")) return undefined;
  if (!isTexts(roles) || !isTexts(scopes) || !isTexts(capabilities) || !capabilities.every(isCapability))
    return undefined;
  // A remote caller is never the local operator, whatever the file contains.
  const known = { id, roles, capabilities, scopes, local: false };
  const times = timesOf(entry);
  if (times === undefined) return undefined;
  return { id: name, hash, principal: tenant === undefined ? known : { ...known, tenant }, ...times };
}

/** Reads the times of a key. Returns undefined if one is unreadable, because the key must not become valid forever. */
function timesOf(entry: Readonly<Record<string, unknown>>): Omit<StoredKey, "id" | "hash" | "principal"> | undefined {
  const { createdAt, expiresAt, previous } = entry;
  if (expiresAt !== undefined && typeof expiresAt !== "number") return undefined;
  const { hash, until } = isPlainObject(previous) ? previous : {};
  const isHash = typeof hash === "string" && KEY_HASH.test(hash) && typeof until === "number";
  return {
    ...(typeof createdAt === "number" && { createdAt }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(isHash && { previous: { hash, until } }),
  };
}

function isCapability(value: string): value is Capability {
  return (CAPABILITIES as readonly string[]).includes(value);
}

function unusable(path: string, why: string, fix: string, cause?: unknown): ArsenalError {
  const details = { field: "server.auth.api_keys.file", value: path, cause };
  return fixable("CONFIG_INVALID", `The key file ${showValue(path)} ${why}.`, fix, details);
}

/** The name is part of the key and not secret. */
export const KEY_NAME: RegExp = /^[a-z][a-z0-9-]{0,62}$/;

const KEY = /^ta_([a-z][a-z0-9-]{0,62})_[A-Za-z0-9_-]{43}$/;

/** Creates a key, `ta_NAME_SECRET`. Its 256 random bits cannot be guessed, so a fast hash is sufficient. */
export function createKeyText(name: string): string {
  return `ta_${name}_${randomBytes(32).toString("base64url")}`;
}

/** Returns the name in a key; undefined if the text is not a key. */
export function nameInKey(text: string): string | undefined {
  return KEY.exec(text)?.[1];
}

export const KEY_HASH: RegExp = /^sha256:[0-9a-f]{64}$/;

/** Returns the stored hash of a key: `sha256:` and 64 hexadecimal digits. */
export function hashOfKey(text: string): string {
  return `sha256:${hashOf("sha256", text)}`;
}
