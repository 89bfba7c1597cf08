import { createHash } from "node:crypto";

/** Whether a key is in the one part of `parts` that is kept apart, the same in every run. */
function isPart(key: string, parts: number): boolean {
  return createHash("sha256").update(key).digest().readUInt32BE(0) % parts === 0;
}

/** Whether the cases of a public rule are kept for measuring the wording scanner. Half of the rules are: cases of one rule are alike. */
export function isRuleKept(rule: string): boolean {
  return isPart(rule, 2);
}

/** Whether the tools of a server are kept for setting the thresholds of the wording scanner. One server in five is. */
export function isServerKept(namespace: string): boolean {
  return isPart(namespace, 5);
}
