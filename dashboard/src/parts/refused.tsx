import type { Refusal } from "../../../src/client/index.ts";

/** Shows the rule that refuses a tool or toolset to the user. */
export function Refused({ refused }: { readonly refused: Refusal | undefined }) {
  if (refused === undefined) return null;
  return (
    <span class="badge warn" title={refused.reason}>
      refused: {refused.rule}
    </span>
  );
}
