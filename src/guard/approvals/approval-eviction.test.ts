import { describe, expect, it } from "vitest";
import { crowding, type OpenApproval } from "./approval-record.ts";

/** An open approval, written `tenant/caller` or `caller`. */
function open(who: string, id: number): { readonly approval: OpenApproval } {
  const [requestedBy = "", tenant] = who.split("/").toReversed();
  const shown = { id: `${who}#${id}`, toolId: "pay", arguments: {}, requestedBy, reason: "", requestedAt: id } as const;
  const approval = { open: true, binding: "", contentHash: "", local: false } as const;
  return {
    approval: {
      ...approval,
      shown: { ...shown, state: "pending", expiresAt: 0 },
      ...(tenant !== undefined && { tenant }),
    },
  };
}

/** Which go, of those that are given oldest first. */
function going(excess: number, ...who: readonly string[]): readonly string[] {
  return crowding(who.map(open), excess).map(({ approval }) => approval.shown.id);
}

describe("the approvals that give way", () => {
  it("are none while there is room", () => {
    expect([going(0, "ada", "ada"), going(-5, "ada", "ada"), going(1)]).toEqual([[], [], []]);
  });

  it("are the oldest of whoever has the most", () => {
    expect(going(1, "ada", "bob", "bob", "cyd")).toEqual(["bob#1"]);
  });

  it("are the oldest of all where nobody has more than another", () => {
    expect(going(1, "ada", "bob", "bob", "ada")).toEqual(["ada#0"]);
  });

  it("are those of the tenant that has the most, however many callers it asks through", () => {
    expect(going(1, "south/sam", "south/sam", "north/ada", "north/bob", "north/cyd")).toEqual(["north/ada#2"]);
  });

  it("keep a name in one tenant apart from the same in another, and callers without a tenant from those with one", () => {
    expect(going(1, "ada", "north/ada", "south/ada", "south/ada")).toEqual(["south/ada#2"]);
  });

  it("are weighed anew after each, so that nobody is left with less than who had fewer", () => {
    expect(going(3, "ada", "bob", "bob", "bob", "ada")).toEqual(["ada#0", "bob#1", "bob#2"]);
  });
});
