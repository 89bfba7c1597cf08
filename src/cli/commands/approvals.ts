import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { PendingApproval } from "../../guard/aegis.ts";
import { createApprovals } from "../../guard/approvals.ts";
import { localOperator } from "../../guard/principal.ts";
import { visibleText } from "../../guard/visible-text.ts";
import { systemClock } from "../../observe/clock.ts";
import type { Command, Terminal } from "../command.ts";
import { withKeptState } from "../kept-state.ts";
import { clip, styles, table } from "../style.ts";

/** `toolarsenal approvals` */
export const approvals: Command = {
  name: "approvals",
  summary: "List, approve or deny the calls that wait for a person.",
  positionals: ["ACTION", "[ID]"],
  options: {},
  examples: ["approvals list", "approvals approve 0f4c…", "approvals deny 0f4c…"],
  async run(input, terminal) {
    const [action = "", id] = input.positionals;
    if (action !== "list" && action !== "approve" && action !== "deny")
      throw wrong("ACTION", action, `There is no action "${action}".`, "Write list, approve ID or deny ID.");
    if (action !== "list" && id === undefined)
      throw wrong("ID", id, `"approvals ${action}" needs an ID.`, "Take one from: toolarsenal approvals list");
    return withKeptState("Approvals", input, terminal, async ({ config, state, emit }) => {
      const book = createApprovals({ state, clock: systemClock, emit, settings: config.security });
      if (action === "list") {
        show(await book.list(), input.json, terminal);
        return 0;
      }
      await book[action](id ?? "", localOperator());
      const done = action === "approve" ? "approved" : "denied";
      if (input.json) terminal.out.write(`${JSON.stringify({ id, outcome: done })}\n`);
      else terminal.err.write(`${id} is ${done}.\n`);
      return 0;
    });
  },
};

function show(waiting: readonly PendingApproval[], json: boolean, terminal: Terminal): void {
  if (json) {
    terminal.out.write(`${JSON.stringify(waiting, undefined, 2)}\n`);
    return;
  }
  const paint = styles(terminal.err, terminal.environment);
  const rows = waiting.map(({ id, toolId, requestedBy, state, expiresAt, arguments: args }) => [
    id,
    state,
    toolId,
    `by ${clip(requestedBy, 40)}`,
    `${Math.max(0, Math.round((expiresAt - systemClock.now()) / 1_000))} s left`,
    visibleText(JSON.stringify(args)),
  ]);
  if (rows.length > 0) terminal.out.write(`${table(rows)}\n`);
  terminal.err.write(paint.dim(`${waiting.length} ${waiting.length === 1 ? "call waits" : "calls wait"}\n`));
}

function wrong(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return new ArsenalError("INPUT_INVALID", `${problem} ${fix}`, { field, value, fix });
}
