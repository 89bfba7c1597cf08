import { sqliteState } from "../../adapters/state/sqlite.ts";
import { configuredAudit, configuredCallAudit, IN_MEMORY } from "../../config/parts/arsenal-parts.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { withAudit } from "../../guard/audit/call-audit.ts";
import type { State } from "../../state/state.port.ts";
import { systemClock } from "../../observe/clock.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import type { Input, Terminal } from "../command.ts";
import { approvalFiles } from "./local-approvals.ts";
import { readSettings } from "./open-arsenal.ts";

/** Runs a step on state that other processes may be using at the same time. */
type RunKept = (kept: {
  readonly config: ResolvedConfig;
  readonly states: readonly State[];
  /** Records events in the audit log, if there is one. A record that cannot be kept is reported to the person. */
  readonly emit: Emit;
}) => Promise<number>;

/** Runs a step on the pins that the configuration's state file keeps. */
export function withKeptPins(input: Input, terminal: Terminal, run: RunKept): Promise<number> {
  const filesOf = ({ state: { file } }: ResolvedConfig): readonly string[] => {
    if (file === undefined || file === IN_MEMORY) throw keptInMemory("Pins", SET_FILE);
    return [file];
  };
  return withStates(input, terminal, filesOf, run);
}

/** Runs a step on every file of approvals that the person at this machine answers for. */
export function withKeptApprovals(input: Input, terminal: Terminal, run: RunKept): Promise<number> {
  const filesOf = (config: ResolvedConfig): readonly string[] => {
    const files = approvalFiles(config, terminal);
    if (files === undefined) throw keptInMemory("Approvals", `${SET_FILE} Or answer over HTTP: see docs/approvals.md.`);
    return files;
  };
  return withStates(input, terminal, filesOf, run);
}

async function withStates(
  input: Input,
  terminal: Terminal,
  filesOf: (config: ResolvedConfig) => readonly string[],
  run: RunKept,
): Promise<number> {
  const config = await readSettings(input, terminal);
  const opened = filesOf(config).map((file) => sqliteState({ file }));
  const log = configuredAudit(config, systemClock);
  const silent: Emit = () => {};
  const report: Emit = (name, data) => {
    if (name === "audit-failed") terminal.err.write(`Not recorded: ${(data as EventMap["audit-failed"]).message}\n`);
  };
  try {
    const emit = log === undefined ? silent : withAudit(silent, configuredCallAudit(config, log, report));
    return await run({ config, states: opened.map(({ documents }) => documents), emit });
  } finally {
    await log?.close();
    for (const state of opened) await state.close();
  }
}

const SET_FILE = "Set state.file to a file, such as ./.toolarsenal/state.sqlite, and restart the gateway.";

function keptInMemory(what: string, fix: string): ArsenalError {
  const message = `${what} are kept in memory by the gateway, so this command cannot see them. ${fix}`;
  return new ArsenalError("CONFIG_INVALID", message, { field: "state.file", fix });
}
