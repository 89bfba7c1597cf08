import { describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type ApprovalBook, createApprovals } from "./approvals.ts";
import { localOperator, type Principal } from "../principal.ts";
import type { State } from "../../state/state.port.ts";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });

function person(id: string, tenant?: string): Principal {
  return localOperator({ id, roles: [], local: false, ...(tenant !== undefined && { tenant }) });
}

/** Over a state that lists what came last first, as a state may. */
function setUp(): { readonly book: ApprovalBook; readonly state: State } {
  const clock = createManualClock(1_000_000);
  const memory = memoryState({ clock }).documents;
  const state: State = { ...memory, list: async (prefix) => [...(await memory.list(prefix))].toReversed() };
  const settings = { confirmationTimeoutS: 600, selfApproval: "never" } as const;
  return { state, book: createApprovals({ state, clock, emit: () => {}, settings }) };
}

async function asks(book: ApprovalBook, principal: Principal, amount: number): Promise<string> {
  return (await book.request({ tool: pay, arguments: { amount }, principal }, "Somebody must look.")).id;
}

describe("a caller that asks without end", () => {
  it("displaces its own calls, and not those of others who asked before", async () => {
    const { book } = setUp();
    const ofOthers = [await asks(book, person("ada"), 1), await asks(book, person("bob"), 2)];
    await book.approve(ofOthers[1] ?? "", localOperator());
    for (let amount = 0; amount < 1_100; amount++) await asks(book, person("flood"), amount);
    const open = await book.list();
    expect(open).toHaveLength(1_000);
    expect(open.slice(0, 3).map(({ requestedBy, arguments: args }) => [requestedBy, args["amount"]])).toEqual([
      ["ada", 1],
      ["bob", 2],
      ["flood", 102],
    ]);
  });

  it("cannot fill the state with what leads to calls that gave way", async () => {
    const { book, state } = setUp();
    for (let amount = 0; amount < 1_050; amount++) await asks(book, person("flood"), amount);
    expect(await state.list("")).toHaveLength(2_000);
  });

  it("cannot fill the state by taking back what it asked for", async () => {
    const { book, state } = setUp();
    const denied: string[] = [];
    for (let amount = 0; amount < 1_050; amount++) {
      const id = await asks(book, person("flood"), amount);
      await book.deny(id, person("flood"));
      denied.push(id);
    }
    expect((await state.list("")).length).toBeLessThanOrEqual(1_001);
    const late = async (id = ""): Promise<unknown> =>
      book.check(id, { tool: pay, arguments: {}, principal: person("flood") });
    // The last request found 1,049 that were denied.
    for (const forgotten of [0, 48])
      expect(await late(denied[forgotten])).toMatchObject({ reason: expect.stringContaining("is unknown") as string });
    for (const kept of [49, 1_049])
      expect(await late(denied[kept])).toMatchObject({ reason: expect.stringContaining("was denied") as string });
  });

  it("is asked about anew after its call gave way", async () => {
    const { book } = setUp();
    const first = await asks(book, person("flood"), 0);
    for (let amount = 1; amount <= 1_000; amount++) await asks(book, person("flood"), amount);
    const again = await asks(book, person("flood"), 0);
    expect(again).not.toBe(first);
    expect(await book.get(again)).toMatchObject({ state: "pending", arguments: { amount: 0 } });
  });
});
