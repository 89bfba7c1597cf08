import { configuredAudit, configuredCallAudit, configuredState } from "../../config/arsenal-parts.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { ResolvedConfig } from "../../config/resolve-config.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { PendingApproval } from "../../guard/aegis.ts";
import { createApprovals } from "../../guard/approvals.ts";
import { withAudit } from "../../guard/audit/call-audit.ts";
import { localOperator } from "../../guard/principal.ts";
import { visibleText } from "../../guard/visible-text.ts";
import { systemClock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Command, Terminal } from "../command.ts";
import { configPath } from "../open-arsenal.ts";
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
    const { config } = await loadConfig(configPath(input, terminal), terminal.environment, { folder: terminal.folder });
    if (config.state.file === undefined) throw keptInMemory();

    const state = configuredState(config, systemClock);
    const log = configuredAudit(config, systemClock);
    try {
      const emit = log === undefined ? silent : withAudit(silent, configuredCallAudit(config, log, telling(terminal)));
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
    } finally {
      await log?.close();
      await state.close();
    }
  },
};

const silent: Emit = () => {};

/** Says where the answer could not be recorded. */
function telling({ err }: Terminal): Emit {
  return (name, data) => {
    if (name === "audit-failed") err.write(`Not recorded: ${(data as { readonly message: string }).message}\n`);
  };
}

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

function keptInMemory(): ArsenalError {
  const fix = "Set state.file, such as ./.toolarsenal/state.sqlite, for the process that serves and for this one.";
  return new ArsenalError(
    "CONFIG_INVALID",
    `Approvals are kept in the memory of the process that serves, where this one cannot see them. ${fix}`,
    { field: "state.file" satisfies `${keyof ResolvedConfig}.file`, fix },
  );
}

function wrong(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return new ArsenalError("INPUT_INVALID", `${problem} ${fix}`, { field, value, fix });
}
