import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import type { EventMap } from "../../observe/events.ts";
import type { State } from "../../state/state.port.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { localOperator, type Principal } from "../principal.ts";
import { type ApprovalBook, createApprovals, MOST_PER_CALLER } from "./approvals.ts";
import { repeats } from "../../../test/kit/effort.ts";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });
const person = (id: string, more: Partial<Principal> = {}): Principal =>
  localOperator({ id, roles: [], local: false, ...more });
const ada = person("ada", { roles: ["approver"] });

interface Bench {
  readonly book: ApprovalBook;
  readonly state: State;
  readonly clock: ManualClock;
  readonly resolved: readonly EventMap["confirmation-resolved"][];
  /** A book of another process on the same state. */
  another(): ApprovalBook;
}

function setUp(): Bench {
  const clock = createManualClock(1_000_000);
  const state = memoryState({ clock }).documents;
  const settings = { confirmationTimeoutS: 600, selfApproval: "never" } as const;
  const resolved: EventMap["confirmation-resolved"][] = [];
  const another = (): ApprovalBook =>
    createApprovals({
      state,
      clock,
      settings,
      emit(name, data) {
        if (name === "confirmation-resolved") resolved.push(data as EventMap["confirmation-resolved"]);
      },
    });
  return { book: another(), state, clock, resolved, another };
}

const call = (args: object, principal: Principal) =>
  ({ tool: pay, arguments: args as Record<string, unknown>, principal }) as const;

async function asks(book: ApprovalBook, principal: Principal, args: object): Promise<string> {
  return (await book.request(call(args, principal), "Somebody must look.")).id;
}

/** Bytes of all documents but those that name nobody's arguments. */
async function bytesIn(state: State): Promise<number> {
  const kept = await state.list("");
  return kept.reduce((sum, { key, value }) => sum + Buffer.byteLength(key + JSON.stringify(value)), 0);
}

describe("what approvals keep", () => {
  it("stays below the bound of one caller, whatever it asks for and however it ends", async () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.constant(60_000));
    const step = fc.record({
      size,
      unit: fc.constantFrom("x", "\u202E", "ä", '"'),
      fate: fc.constantFrom("waits", "waits", "waits", "denied", "approved", "used", "returned"),
      process: fc.constantFrom(0, 1),
      together: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 120 }), async (steps) => {
        const { book, another, state } = setUp();
        const books = [book, another()];
        let running: Promise<unknown>[] = [];
        for (const [index, { size: length, unit, fate, process, together }] of steps.entries()) {
          const one = books[process] ?? book;
          const request = call({ index, text: unit.repeat(length / Buffer.byteLength(unit) / 2) }, person("flood"));
          const run = async (): Promise<void> => {
            const { id } = await one.request(request, "Somebody must look.");
            if (fate === "denied") await one.answer(id, "deny", ada);
            else if (fate !== "waits") await one.answer(id, "approve", ada);
            if (fate === "used" || fate === "returned") await one.redeem(id, request);
            if (fate === "returned") await one.giveBack(request);
          };
          running.push(run());
          if (together) continue;
          await Promise.all(running);
          running = [];
          // Each approval also has an entry and what leads to it, of less than 1 KiB together.
          expect(await bytesIn(state)).toBeLessThanOrEqual(MOST_PER_CALLER.bytes + steps.length * 1024);
        }
        await Promise.all(running);
      }),
      { numRuns: repeats(8) },
    );
  });

  it("leaves the oldest calls of a caller out once their arguments are too large together", async () => {
    const { book, resolved } = setUp();
    const first = await asks(book, person("bob"), { text: "kept" });
    for (let index = 0; index < 40; index++) await asks(book, person("flood"), { index, text: "x".repeat(60_000) });
    expect(await book.get(first)).toMatchObject({ requestedBy: "bob" });
    const left = await book.count();
    expect([left, resolved.length]).toEqual([35, 6]);
  });

  it("is looked at as a whole only every so often while there is room", async () => {
    const { state, clock } = setUp();
    const listed: string[] = [];
    const counted: State = { ...state, list: (prefix, options) => (listed.push(prefix), state.list(prefix, options)) };
    const settings = { confirmationTimeoutS: 600, selfApproval: "never" } as const;
    const book = createApprovals({ state: counted, clock, emit: () => {}, settings });
    for (let index = 0; index < 100; index++) await asks(book, person(`caller-${index}`), { index });
    expect(listed.filter((prefix) => prefix === "approval-entry:")).toHaveLength(4);
  });
});

describe("the list of approvals", () => {
  it("comes in pages, oldest first, each call once", async () => {
    const { book, clock } = setUp();
    const asked: string[] = [];
    for (let index = 0; index < 25; index++) {
      asked.push(await asks(book, person(`caller-${index % 4}`), { index }));
      if (index % 3 === 0) await clock.advance(1);
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await book.list({ limit: 10, ...(cursor !== undefined && { cursor }) });
      expect(page.length).toBeLessThanOrEqual(10);
      seen.push(...page.map(({ id }) => id));
      cursor = page.next;
      // What ends in between is neither shown nor in the way.
      if (seen.length === 10) await book.deny(asked[3] ?? "", ada);
    } while (cursor !== undefined);
    expect(seen).toEqual(asked);
    await expect(book.list({ cursor: "nonsense" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("has a hundred calls on a page unless asked for more, and no more than a mebibyte of arguments", async () => {
    const { book } = setUp();
    for (let index = 0; index < 101; index++) await asks(book, person("small"), { index });
    expect(await book.list()).toHaveLength(100);
    expect((await book.list({ limit: 5_000 })).next).toBe(undefined);
    for (let index = 0; index < 20; index++) await asks(book, person("large"), { index, text: "x".repeat(64_000) });
    const page = await book.list({ limit: 1_000 });
    expect(page).toHaveLength(101 + 16);
    expect(await book.list({ limit: 1_000, cursor: page.next ?? "" })).toHaveLength(4);
  });
});

describe("an approval of an earlier release", () => {
  /** Keeps an approval as release 0.1 did: one document, with the arguments in it. */
  async function makeFormer({ state }: Bench, id: string, more: object = {}): Promise<void> {
    const [entry] = (await state.list("approval-entry:")).filter(({ value }) => JSON.stringify(value).includes(id));
    const args = (await state.get(`approval-arguments:${id}`))?.value;
    if (entry === undefined) throw new Error(`There is no approval ${id}.`);
    const { shown, bytes: _bytes, ...record } = entry.value as { shown: object; bytes: number };
    await state.delete(entry.key);
    await state.delete(`approval-arguments:${id}`);
    await state.set(`approval:${id}`, { ...record, shown: { ...shown, arguments: args, ...more } });
  }

  it("is listed, approved and used like any other", async () => {
    const bench = setUp();
    const { book } = bench;
    const request = call({ amount: 5 }, person("bob"));
    const { id } = await book.request(request, "Somebody must look.");
    await makeFormer(bench, id);
    expect((await book.request(request, "Somebody must look.")).id).toBe(id);
    await makeFormer(bench, id);
    expect(await book.list()).toMatchObject([{ id, arguments: { amount: 5 }, state: "pending" }]);
    await makeFormer(bench, id);
    expect(await book.answer(id, "approve", ada)).toEqual({ outcome: "approved" });
    expect(await book.redeem(id, request)).toEqual({ state: "approved" });
    expect(await bench.state.list("approval:")).toEqual([]);
  });

  it("is dropped, with an event, if nobody could read its arguments", async () => {
    const bench = setUp();
    const { book, state, resolved } = bench;
    const id = await asks(book, person("bob"), { amount: 5 });
    await makeFormer(bench, id, { arguments: { text: "x".repeat(70_000) } });
    expect(await book.list()).toEqual([]);
    expect(resolved).toEqual([
      { id, toolId: "default.pay", outcome: "expired", reason: "Its arguments are larger than 65536 bytes." },
    ]);
    expect((await state.list("approval")).filter(({ key }) => !key.startsWith("approval-asked:"))).toEqual([]);
  });
});
