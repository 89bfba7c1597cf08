import { createHash } from "node:crypto";

const MAX_ALIAS = 64;
const HASH_DIGITS = 12;
const DEFAULT_PREFIX = "default.";
const HASHED = new RegExp(`-0[0-9a-f]{${HASH_DIGITS}}$`);

/**
 * The name a model sees for a tool id. Model APIs accept letters, digits, `_` and `-`, a letter or `_` first, at most 64 of them. A tool of
 * the default namespace goes by its bare name; in other ids a dot becomes one dash and a dash becomes two, so `billing.refund_user` is
 * `billing-refund_user`. What would be longer is cut and ends in a hash. Different ids have different aliases.
 */
export function toAlias(id: string): string {
  const alias = spell(id);
  if (alias.length <= MAX_ALIAS) return alias;
  // No name starts with a digit, so nothing but a hash follows a dash with one.
  const tail = `-0${createHash("sha256").update(id).digest("hex").slice(0, HASH_DIGITS)}`;
  const room = MAX_ALIAS - tail.length;
  const name = id.slice(id.lastIndexOf(".") + 1);
  // The name says more than the namespace, and its start more than its end.
  const kept = name.length < room ? alias.slice(-room).replace(/^[-_0-9]+/, "") : name.slice(0, room);
  return kept + tail;
}

/** The id that has this alias; undefined where the alias was cut, or is none. */
export function fromAlias(alias: string): string | undefined {
  if (alias.length > MAX_ALIAS || isCutAlias(alias)) return undefined;
  const text = alias.startsWith("_") ? alias.slice(1) : alias;
  const id = text.includes("-")
    ? text.replaceAll(/-+/g, (run) => "-".repeat(run.length >> 1) + (run.length % 2 === 1 ? "." : ""))
    : DEFAULT_PREFIX + text;
  return spell(id) === alias ? id : undefined;
}

/** True for an alias that ends in a hash, from which the id cannot be read. */
export function isCutAlias(alias: string): boolean {
  return HASHED.test(alias);
}

function spell(id: string): string {
  const isDefault = id.startsWith(DEFAULT_PREFIX) && !id.includes(".", DEFAULT_PREFIX.length);
  if (isDefault) return id.slice(DEFAULT_PREFIX.length);
  const alias = id.replaceAll("-", "--").replaceAll(".", "-");
  return /^\d/.test(alias) ? `_${alias}` : alias;
}
