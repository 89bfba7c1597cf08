import { createHash } from "node:crypto";

const MAX_ALIAS = 64;

/**
 * The name a model sees for a tool id. Model APIs accept letters, digits, `_` and `-`, at most 64 of them; ids use `.` and never `-`, so
 * `billing.refund_user` becomes `billing-refund_user` and back. Tools of the default namespace go by their bare name. A longer id keeps
 * its end and starts with a hash.
 */
export function toAlias(id: string): string {
  const alias = id.startsWith("default.") ? id.slice("default.".length) : id.replaceAll(".", "-");
  if (alias.length <= MAX_ALIAS) return alias;
  const head = `t${createHash("sha256").update(id).digest("hex").slice(0, 10)}_`;
  return head + alias.slice(-(MAX_ALIAS - head.length)).replace(/^[-_]+/, "");
}
