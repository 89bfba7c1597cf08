import type { OpenApproval } from "./approval-record.ts";

/**
 * Which of the open approvals, given oldest first, go so that so many fewer are left: the oldest of whoever has the most, in the tenant that
 * has the most. So a caller that asks without end displaces its own calls, not those of others.
 */
export function crowding<Open extends { readonly approval: OpenApproval }>(
  open: readonly Open[],
  excess: number,
): readonly Open[] {
  const left = new Set(open);
  for (let gone = 0; gone < excess; gone++) {
    const ofTenant = largestGroup([...left], ({ approval }) => approval.tenant);
    const [oldest] = largestGroup(ofTenant, ({ approval }) => approval.shown.requestedBy);
    if (oldest !== undefined) left.delete(oldest);
  }
  return open.filter((each) => !left.has(each));
}

/** Of several that are equally large, the one with the oldest. */
function largestGroup<Value>(values: readonly Value[], by: (value: Value) => unknown): readonly Value[] {
  let largest: readonly Value[] = [];
  for (const group of Map.groupBy(values, by).values()) if (group.length > largest.length) largest = group;
  return largest;
}
