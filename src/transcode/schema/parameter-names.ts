import { sha256 } from "../../base/crypto.ts";

const MAX_LENGTH = 64;
const HASH_DIGITS = 8;

/** Names that every provider accepts. */
const SAFE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Returns a safe name for each parameter that some provider rejects, such as `filter[id]`. Deterministic, so the schema maps it back. */
export function saferNames(names: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set(names);
  const safer = new Map<string, string>();
  for (const name of names) {
    if (SAFE.test(name)) continue;
    const plain = name.replaceAll(/[^A-Za-z0-9_]+/g, "_").replace(/^(?=\d)|^$/, "_");
    const cut = plain.slice(0, MAX_LENGTH - HASH_DIGITS - 1);
    const start = plain.length <= MAX_LENGTH ? plain : `${cut}_${sha256(name).slice(0, HASH_DIGITS)}`;
    let candidate = start;
    for (let count = 2; used.has(candidate); count++) candidate = `${start.slice(0, MAX_LENGTH - 6)}_${count}`;
    used.add(candidate);
    safer.set(name, candidate);
  }
  return safer;
}
