import { createHash } from "node:crypto";

const MAX_LENGTH = 64;
const HASH_DIGITS = 8;

/** Names that every provider accepts. */
const SAFE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** The name for each parameter whose own name some provider refuses, such as `filter[id]`. Deterministic, so the way back needs only the schema. */
export function saferNames(names: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set(names);
  const safer = new Map<string, string>();
  for (const name of names) {
    if (SAFE.test(name)) continue;
    const plain = name.replaceAll(/[^A-Za-z0-9_]+/g, "_").replace(/^(?=\d)|^$/, "_");
    const start = plain.length <= MAX_LENGTH ? plain : shorten(plain, name);
    let candidate = start;
    for (let count = 2; used.has(candidate); count++) candidate = `${start.slice(0, MAX_LENGTH - 6)}_${count}`;
    used.add(candidate);
    safer.set(name, candidate);
  }
  return safer;
}

function shorten(plain: string, name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS);
  return `${plain.slice(0, MAX_LENGTH - HASH_DIGITS - 1)}_${hash}`;
}
