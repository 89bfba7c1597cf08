import { fixable } from "../../../errors/arsenal-error.ts";
import { count, showValue } from "../../../errors/show-value.ts";
import type { Approvals, PendingApproval } from "../../../guard/aegis.ts";
import { createApprovals } from "../../../guard/approvals/approvals.ts";
import { localOperator } from "../../../guard/principal.ts";
import { visibleText } from "../../../guard/visible-text.ts";
import { systemClock } from "../../../observe/clock.ts";
import type { Command } from "../../command.ts";
import { withKeptApprovals } from "../../arsenal/kept-state.ts";
import { clip, printList } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    list: { summary: "List the calls that wait" },
    approve: { summary: "Let a call run", positionals: ["ID"] },
    deny: { summary: "Refuse a call", positionals: ["ID"] },
  },
  examples: ["approvals list", "approvals approve 0f4c…", "approvals deny 0f4c…"],
  async run(input, terminal) {
    const [action = "", id] = input.positionals;
    return withKeptApprovals(input, terminal, async ({ config, states, emit }) => {
      // Whether a caller may approve its own call is for the gateway to say that asked: it is kept with the call.
      const settings = { ...config.security, selfApproval: "never" } as const;
      const books = states.map(({ documents }) =>
        createApprovals({ state: documents, clock: systemClock, emit, settings }),
      );
      if (action === "list") {
        const listed = (await Promise.all(books.map((book) => book.list()))).flat();
        const waiting = listed.toSorted((a, b) => a.requestedAt - b.requestedAt);
        printList(input, terminal, waiting, waiting.map(toRow), count(waiting.length, "call waits", "calls wait"));
        return 0;
      }
      const outcome = await answer(id ?? "", action === "approve" ? "approve" : "deny", books);
      if (input.json) terminal.out.write(`${JSON.stringify({ id, outcome })}\n`);
      else terminal.err.write(`${id} is ${outcome}.${outcome === "approved" ? AGAIN : ""}\n`);
      return 0;
    });
  },
};

const AGAIN = " Now have the same call made again: it runs once.";

/** Answers in the operator's name, wherever the call is kept. Throws if the answer is refused. */
async function answer(
  id: string,
  given: "approve" | "deny",
  books: readonly Approvals[],
): Promise<"approved" | "denied"> {
  const by = localOperator();
  for (const book of books) {
    const answered = await book.answer(id, given, by);
    if (answered.outcome !== "refused") return answered.outcome;
    if (answered.because !== "unknown") throw answered.error;
  }
  const fix = "List the calls that wait with: toolarsenal approvals list";
  throw fixable("APPROVAL_INVALID", `No call waits with the id ${showValue(id)}.`, fix, { field: "ID", value: id });
}

function toRow({ id, toolId, requestedBy, state, expiresAt, arguments: args }: PendingApproval): readonly string[] {
  const leftS = Math.max(0, Math.round((expiresAt - systemClock.now()) / 1_000));
  return [id, state, toolId, `by ${clip(requestedBy, 40)}`, `${leftS} s left`, visibleText(JSON.stringify(args))];
}
