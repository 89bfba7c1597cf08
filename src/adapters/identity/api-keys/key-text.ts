import { hash, randomBytes } from "node:crypto";

/** What a key can be called. The name is a part of the key and no secret. */
export const KEY_NAME: RegExp = /^[a-z][a-z0-9-]{0,62}$/;

const KEY = /^ta_([a-z][a-z0-9-]{0,62})_[A-Za-z0-9_-]{43}$/;

/** A new key, `ta_NAME_SECRET`. Its 256 random bits cannot be guessed, which is why a fast hash of it is enough. */
export function createKeyText(name: string): string {
  return `ta_${name}_${randomBytes(32).toString("base64url")}`;
}

/** The name in what may be a key; undefined for what is of no such form. */
export function nameInKey(text: string): string | undefined {
  return KEY.exec(text)?.[1];
}

/** How what is kept of a key looks. */
export const KEY_HASH: RegExp = /^sha256:[0-9a-f]{64}$/;

/** What is kept of a key: `sha256:` and 64 hexadecimal digits. */
export function hashOfKey(text: string): string {
  return `sha256:${hash("sha256", text, "hex")}`;
}
