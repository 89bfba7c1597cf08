import { sha256 } from "../base/crypto.ts";

const MAX_ALIAS = 64;
const HASH_DIGITS = 12;
const DEFAULT_PREFIX = "default.";
const HASHED = new RegExp(`-0[0-9a-f]{${HASH_DIGITS}}$`);

/** A shortened alias keeps at least this many characters of its namespace. */
const MIN_NAMESPACE = 24;

/**
 * Returns the name a model sees for a tool id. Model APIs accept at most 64 letters, digits, `_` and `-`, beginning with a letter or `_`. A tool of
 * the default namespace has its bare name. In other ids, a dash joins namespace and name, and dashes of the namespace stay: `billing.refund_user`
 * becomes `billing-refund_user`, and `git-hub.search` becomes `git-hub-search`. A dot in the namespace becomes two dashes. A longer alias is cut and
 * ends in a hash. It still begins with its namespace, so that no server can imitate another server's tool. Different ids have different aliases.
 */
export function toAlias(id: string): string {
  const alias = spell(id);
  if (alias.length <= MAX_ALIAS) return alias;
  // No name starts with a digit, so a dash and a digit always start a hash.
  const tail = `-0${sha256(id).slice(0, HASH_DIGITS)}`;
  const room = MAX_ALIAS - tail.length;
  // Names contain no dashes, so the last dash ends the namespace.
  const end = alias.lastIndexOf("-");
  if (end === -1) return alias.slice(0, room) + tail;
  const forName = alias.length - end - 1;
  const namespace = alias.slice(0, Math.min(end, Math.max(MIN_NAMESPACE, room - 1 - forName))).replace(/-+$/, "");
  const name = alias.slice(end + 1).slice(0, room - 1 - namespace.length);
  return `${namespace}-${name}${tail}`;
}

/** The first character of an alias that has no prefix. */
const PLAIN_START = /^[^_0-9]/;

/** Returns the id of an alias; undefined if the alias was cut or is invalid. */
export function fromAlias(alias: string): string | undefined {
  if (alias.length > MAX_ALIAS || isCutAlias(alias)) return undefined;
  const dash = alias.indexOf("-");
  // Most aliases have one dash, for the only dot of the id.
  if (dash > 0 && PLAIN_START.test(alias) && alias.lastIndexOf("-") === dash && !alias.includes(".")) {
    const plain = `${alias.slice(0, dash)}.${alias.slice(dash + 1)}`;
    return plain.startsWith(DEFAULT_PREFIX) ? undefined : plain;
  }
  const text = alias.startsWith("_") ? alias.slice(1) : alias;
  const id = text.includes("-") ? unspell(text) : DEFAULT_PREFIX + text;
  return spell(id) === alias ? id : undefined;
}

/** Returns true for an alias that was shortened to a hash, from which the id cannot be read. */
export function isCutAlias(alias: string): boolean {
  return HASHED.test(alias);
}

/**
 * Returns the id of an alias in the old spelling, which saved conversations contain: a dot was one dash and a dash two, so `git-hub.search` was
 * `git--hub-search`. Returns undefined for other texts.
 */
export function fromFormerAlias(alias: string): string | undefined {
  if (alias.length > MAX_ALIAS || isCutAlias(alias) || !alias.includes("-")) return undefined;
  const text = alias.startsWith("_") ? alias.slice(1) : alias;
  return text.replaceAll(/-+/g, (run) => "-".repeat(run.length >> 1) + (run.length % 2 === 1 ? "." : ""));
}

function spell(id: string): string {
  const isDefault = id.startsWith(DEFAULT_PREFIX) && !id.includes(".", DEFAULT_PREFIX.length);
  if (isDefault) return id.slice(DEFAULT_PREFIX.length);
  const alias = id.replaceAll(RUNS, (run, at) => "-".repeat(spelledLength(run, at + run.length > id.lastIndexOf("."))));
  const first = alias.charCodeAt(0);
  return first >= ZERO && first <= NINE ? `_${alias}` : alias;
}

const ZERO = 48;
const NINE = 57;

/** Runs of dashes, with the dot after them if there is one. A segment of a namespace can end with dashes, but cannot begin with one. */
const RUNS = /-*\.|-+/g;

/** Returns the number of dashes for a run of dashes and dots. The run before the name is the last one, and has its own scale. */
function spelledLength(run: string, isLast: boolean): number {
  if (isLast) return run.length;
  const dashes = run.replace(".", "").length;
  return run.endsWith(".") ? 2 * dashes + 2 : 2 * dashes - 1;
}

function unspell(alias: string): string {
  const last = alias.lastIndexOf("-");
  return alias.replaceAll(/-+/g, (run, at: number) => {
    if (at + run.length > last) return `${run.slice(1)}.`;
    return run.length % 2 === 1 ? "-".repeat((run.length + 1) / 2) : `${"-".repeat(run.length / 2 - 1)}.`;
  });
}
