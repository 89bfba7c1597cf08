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

function setUp(): { readonly book: ApprovalBook; readonly state: State } {
  const clock = createManualClock(1_000_000);
  const state = memoryState({ clock }).documents;
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
    for (let amount = 0; amount < 300; amount++) await asks(book, person("flood"), amount);
    const open = await book.list({ limit: 1_000 });
    expect(open).toHaveLength(202);
    expect(open.slice(0, 3).map(({ requestedBy, arguments: args }) => [requestedBy, args["amount"]])).toEqual([
      ["ada", 1],
      ["bob", 2],
      ["flood", 100],
    ]);
  });

  it("displaces the calls of nobody else, also if a thousand calls wait in all", async () => {
    const { book } = setUp();
    const others = Array.from({ length: 8 }, (_, index) => person(`other-${index}`));
    for (const other of others) for (let amount = 0; amount < 110; amount++) await asks(book, other, amount);
    for (let amount = 0; amount < 300; amount++) await asks(book, person("flood"), amount);
    const open = await book.list({ limit: 1_000 });
    const waiting = Map.groupBy(open, ({ requestedBy }) => requestedBy);
    expect([waiting.size, ...others.map(({ id }) => waiting.get(id)?.length)]).toEqual([9, ...others.map(() => 110)]);
    expect(open.length).toBeLessThanOrEqual(1_000);
  });

  it("cannot fill the state with what belongs to calls that gave way", async () => {
    const { book, state } = setUp();
    for (let amount = 0; amount < 250; amount++) await asks(book, person("flood"), amount);
    // The entry, the arguments, and what leads to them.
    expect(await state.list("")).toHaveLength(3 * 200);
  });

  it("cannot fill the state by taking back what it asked for", async () => {
    const { book, state } = setUp();
    const denied: string[] = [];
    for (let amount = 0; amount < 1_050; amount++) {
      const id = await asks(book, person("flood"), amount);
      await book.deny(id, person("flood"));
      denied.push(id);
    }
    // All are looked at after every 32 new ones.
    expect((await state.list("")).length).toBeLessThanOrEqual(1_032);
    const late = async (id = ""): Promise<unknown> =>
      book.check(id, { tool: pay, arguments: {}, principal: person("flood") });
    expect(await late(denied[0])).toMatchObject({ reason: expect.stringContaining("is unknown") as string });
    for (const kept of [50, 1_049])
      expect(await late(denied[kept])).toMatchObject({ reason: expect.stringContaining("was denied") as string });
  });

  it("is asked about anew after its call gave way", async () => {
    const { book } = setUp();
    const first = await asks(book, person("flood"), 0);
    for (let amount = 1; amount <= 200; amount++) await asks(book, person("flood"), amount);
    const again = await asks(book, person("flood"), 0);
    expect(again).not.toBe(first);
    expect(await book.get(again)).toMatchObject({ state: "pending", arguments: { amount: 0 } });
  });
});
