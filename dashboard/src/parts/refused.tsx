import type { Refusal } from "../../../src/client/index.ts";

/** Marks a tool or toolset that the user may not use with the rule that refuses it. */
export function Refused({ refused }: { readonly refused: Refusal | undefined }) {
  if (refused === undefined) return null;
  return (
    <span class="badge warn" title={refused.reason}>
      refused: {refused.rule}
    </span>
  );
}
