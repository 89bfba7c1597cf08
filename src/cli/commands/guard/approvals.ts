import { fixable } from "../../../errors/arsenal-error.ts";
import { count, showValue } from "../../../errors/show-value.ts";
import type { ApprovalPage, Approvals, PendingApproval } from "../../../guard/aegis.ts";
import { createApprovals } from "../../../guard/approvals/approvals.ts";
import { localOperator } from "../../../guard/principal.ts";
import { visibleText } from "../../../errors/visible-text.ts";
import { systemClock } from "../../../observe/clock.ts";
import type { Command } from "../../command.ts";
import { readNumber } from "../../input.ts";
import { withKeptApprovals } from "../../arsenal/kept-state.ts";
import { clip, printList } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    list: { summary: "List the calls that wait for approval" },
    approve: { summary: "Approve a call", positionals: ["ID"] },
    deny: { summary: "Deny a call", positionals: ["ID"] },
  },
  options: {
    limit: { value: "N", description: "For list: maximum number of calls to show", fallback: "100" },
  },
  examples: ["approvals list", "approvals approve 0f4c…", "approvals deny 0f4c…"],
  async run(input, terminal) {
    const [action = "", id] = input.positionals;
    return withKeptApprovals(input, terminal, async ({ config, states, emit }) => {
      // The gateway that requested the approval decides about self-approval, and stores its setting with the call.
      const settings = { ...config.security, selfApproval: "never" } as const;
      const books = states.map(({ documents }) =>
        createApprovals({ state: documents, clock: systemClock, emit, settings }),
      );
      if (action === "list") {
        const limit = readNumber(input, "limit", { min: 1, max: 1_000, fallback: 100 });
        const listed = (await Promise.all(books.map((book) => firstOf(book, limit)))).flat();
        const waiting = listed.toSorted((a, b) => a.requestedAt - b.requestedAt);
        const shown = waiting.slice(0, limit);
        const more = waiting.length > limit ? "The oldest are shown, more wait. Show them with --limit." : "";
        const remark = `${count(shown.length, "call waits", "calls wait")}${more && `. ${more}`}`;
        return printList(input, terminal, shown, shown.map(toRow), remark);
      }
      const outcome = await answer(id ?? "", action === "approve" ? "approve" : "deny", books);
      if (input.json) terminal.out.write(`${JSON.stringify({ id, outcome })}\n`);
      else terminal.err.write(`${id} is ${outcome}.${outcome === "approved" ? AGAIN : ""}\n`);
    });
  },
};

const AGAIN = " Now have the same call made again: it runs once.";

/** Answers as the operator, in the store that contains the call. Throws if the answer is refused. */
async function answer(
  id: string,
  given: "approve" | "deny",
  books: readonly Approvals[],
): Promise<"approved" | "denied"> {
  const by = localOperator();
  const waiting = await Promise.all(books.map((book) => book.get(id)));
  const holder = books[waiting.findIndex((each) => each !== undefined)];
  // Only this store gets the answer, because stores record every refusal.
  for (const book of holder === undefined ? books : [holder]) {
    const answered = await book.answer(id, given, by);
    if (answered.outcome !== "refused") return answered.outcome;
    if (answered.because !== "unknown") throw answered.error;
  }
  const fix = "List the calls that wait with: toolarsenal approvals list";
  throw fixable("APPROVAL_INVALID", `No call waits with the id ${showValue(id)}.`, fix, { field: "ID", value: id });
}

/** Returns the oldest approvals, and one more than the limit if there are more. */
async function firstOf(book: Approvals, limit: number): Promise<readonly PendingApproval[]> {
  const listed: PendingApproval[] = [];
  let page: ApprovalPage | undefined;
  do {
    page = await book.list({
      limit: limit + 1 - listed.length,
      ...(page?.next !== undefined && { cursor: page.next }),
    });
    listed.push(...page);
  } while (page.next !== undefined && listed.length <= limit);
  return listed;
}

function toRow({ id, toolId, requestedBy, state, expiresAt, arguments: args }: PendingApproval): readonly string[] {
  const leftS = Math.max(0, Math.round((expiresAt - systemClock.now()) / 1_000));
  return [id, state, toolId, `by ${clip(requestedBy, 40)}`, `${leftS} s left`, visibleText(JSON.stringify(args))];
}
