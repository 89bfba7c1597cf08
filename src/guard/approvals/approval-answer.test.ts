import { describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type ApprovalBook, createApprovals } from "./approvals.ts";
import { localOperator, type Principal } from "../principal.ts";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });
const person = (id: string, more: Partial<Principal> = {}): Principal =>
  localOperator({ id, roles: ["approver"], local: false, ...more });

const ada = person("ada");
const guest = person("guest", { roles: ["operator"] });
const operator = localOperator();
const north = person("nora", { tenant: "north" });
const south = person("sam", { tenant: "south" });

function setUp(selfApproval: "never" | "local" = "never"): { book: ApprovalBook; clock: ManualClock } {
  const clock = createManualClock(1_000_000);
  const settings = { confirmationTimeoutS: 600, selfApproval };
  return { clock, book: createApprovals({ state: memoryState({ clock }).documents, clock, emit: () => {}, settings }) };
}

async function waits(book: ApprovalBook, principal: Principal, amount = 5): Promise<string> {
  return (await book.request({ tool: pay, arguments: { amount }, principal }, "Somebody must look.")).id;
}

const refused = (because: string): unknown => ({
  outcome: "refused",
  because,
  error: expect.objectContaining({ code: "APPROVAL_INVALID" }) as unknown,
});

describe("an answer to an approval", () => {
  it("counts where another approver gives it", async () => {
    const { book } = setUp();
    expect(await book.answer(await waits(book, guest, 1), "approve", ada)).toEqual({ outcome: "approved" });
    expect(await book.answer(await waits(book, guest, 2), "deny", ada)).toEqual({ outcome: "denied" });
  });

  it("needs the person who gives it, and says how to name them", async () => {
    const { book } = setUp();
    const id = await waits(book, guest);
    for (const by of [undefined, null, "ada", { id: "ada" }]) {
      const rejected = expect.objectContaining({
        code: "APPROVAL_INVALID",
        message: expect.stringContaining("needs the person who gives it") as unknown,
        details: expect.objectContaining({
          field: "by",
          fix: expect.stringContaining("approvals.approve(id, localOperator())") as unknown,
        }) as unknown,
      }) as unknown;
      await expect(book.approve(id, by as never)).rejects.toEqual(rejected);
    }
    await expect(book.deny(id, undefined as never)).rejects.toMatchObject({ code: "APPROVAL_INVALID" });
    expect(await book.get(id)).toMatchObject({ state: "pending" });
  });

  it.each([
    ["never", person("ada"), "own-call"],
    ["never", operator, "own-call"],
    ["local", person("ada"), "own-call"],
    ["local", localOperator({ roles: ["operator"] }), "lacks-role"],
  ] as const)("of who asked does not count, with self-approval %s, for %j", async (selfApproval, by, because) => {
    const { book } = setUp(selfApproval);
    const id = await waits(book, by);
    expect(await book.get(id, { approver: by })).toBe(undefined);
    expect(await book.answer(id, "approve", by)).toEqual(refused(because));
    expect(await book.get(id)).toMatchObject({ state: "pending" });
  });

  it("of the person at this machine counts for their own call where so configured", async () => {
    const { book } = setUp("local");
    const id = await waits(book, operator);
    expect(await book.get(id, { approver: operator })).toMatchObject({ id, state: "pending" });
    expect(await book.answer(id, "approve", operator)).toEqual({ outcome: "approved" });
  });

  it("of who asked may always be a no", async () => {
    const { book } = setUp();
    expect(await book.answer(await waits(book, guest), "deny", guest)).toEqual({ outcome: "denied" });
  });

  it("of who has the asker's name outside their tenant is neither a yes nor, without the role, a no", async () => {
    const { book } = setUp();
    const id = await waits(book, north);
    expect(await book.answer(id, "approve", person("nora"))).toEqual(refused("own-call"));
    expect(await book.answer(id, "deny", person("nora", { roles: [] }))).toEqual(refused("lacks-role"));
    expect(await book.answer(id, "deny", person("nora", { roles: [], tenant: "south" }))).toEqual(
      refused("lacks-role"),
    );
    expect(await book.answer(id, "deny", person("nora", { roles: [], tenant: "north" }))).toEqual({
      outcome: "denied",
    });
  });

  it("that is no word for yes is a no", async () => {
    const { book } = setUp();
    const id = await waits(book, ada);
    expect(await book.answer(id, "Approve" as "approve", ada)).toEqual({ outcome: "denied" });
    expect(await book.get(id)).toBe(undefined);
  });

  it("of another tenant finds nothing, open or settled", async () => {
    const { book } = setUp();
    const open = await waits(book, north, 1);
    const settled = await waits(book, north, 2);
    await book.deny(settled, ada);
    for (const id of [open, settled, "nothing"])
      for (const answer of ["approve", "deny"] as const)
        expect(await book.answer(id, answer, south)).toEqual(refused("unknown"));
    expect(await book.answer(settled, "approve", person("ned", { tenant: "north" }))).toEqual(refused("settled"));
  });

  it("that does not count says what to do instead", async () => {
    const { book } = setUp();
    const id = await waits(book, ada);
    const answered = [
      await book.answer(id, "approve", ada),
      await book.answer(id, "approve", guest),
      await book.answer("nothing", "approve", ada),
    ];
    expect(answered.map((each) => each.outcome === "refused" && each.error.details)).toEqual([
      {
        field: "confirmationId",
        value: id,
        fix: "Let another approver answer, or set security.self_approval to local for the gateway and restart it.",
      },
      {
        field: "confirmationId",
        value: id,
        fix: 'Give the role "approver" to the person who answers, or let an approver answer.',
      },
      { field: "confirmationId", value: "nothing", fix: "List the approvals to see which calls wait now." },
    ]);
  });

  it.each([
    ["approve", "approve"],
    ["approve", "deny"],
    ["deny", "approve"],
  ] as const)("that two give at the same moment, %s and %s, is the first one's", async (first, second) => {
    const { book } = setUp();
    const id = await waits(book, guest);
    const answers = await Promise.all([book.answer(id, first, ada), book.answer(id, second, person("bob"))]);
    expect(answers).toEqual([{ outcome: first === "approve" ? "approved" : "denied" }, refused("settled")]);
    expect((await book.list()).length).toBe(first === "approve" ? 1 : 0);
  });

  it("comes too late for what was approved, denied, used or has expired", async () => {
    const { book, clock } = setUp();
    const call = { tool: pay, arguments: { amount: 1 }, principal: guest };
    const id = await waits(book, guest, 1);
    await book.approve(id, ada);
    expect(await book.answer(id, "deny", ada)).toEqual(refused("settled"));
    await book.redeem(id, call);
    expect(await book.answer(id, "approve", ada)).toEqual(refused("settled"));
    const late = await waits(book, guest, 2);
    await clock.advance(600_000);
    expect(await book.answer(late, "approve", ada)).toEqual(refused("settled"));
  });
});

describe("the approvals of one approver", () => {
  it("are those that wait and that are theirs to give", async () => {
    const { book } = setUp();
    const own = await waits(book, north, 1);
    const other = await waits(book, person("ned", { tenant: "north" }), 2);
    const foreign = await waits(book, south, 3);
    const approved = await waits(book, person("ned", { tenant: "north" }), 4);
    await book.approve(approved, ada);
    const ids = async (approver?: Principal): Promise<readonly string[]> =>
      (await book.list(approver && { approver })).map(({ id }) => id);
    expect(await ids(north)).toEqual([other]);
    expect(await ids(south)).toEqual([]);
    expect(await ids(ada)).toEqual([own, other, foreign]);
    expect(await ids(guest)).toEqual([]);
    expect(await ids()).toEqual([own, other, foreign, approved]);
  });
});
