import type { Surroundings } from "../../adapters/surroundings.ts";
import { configuredAudit } from "../../wire/parts.ts";
import { configuredCallAudit } from "../../wire/call-audit.ts";
import { configuredState, stateInFile } from "../../wire/state.ts";
import { createSurroundings } from "../../wire/surroundings.ts";
import { stateType } from "../../config/load/chosen-adapters.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { randomUUID } from "node:crypto";
import { type ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { type CallAudit, withAudit } from "../../guard/audit/call-audit.ts";
import { localOperator } from "../../guard/principal.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import type { ExitCode, Input, Terminal } from "../command.ts";
import { approvalPlaces } from "./local-approvals.ts";
import { readSettings } from "./open-arsenal.ts";

type OpenStates<States> = (config: ResolvedConfig, surroundings: Surroundings) => States;

/** A step on state that other processes may use at the same time. */
type RunKept<States> = (kept: {
  readonly config: ResolvedConfig;
  readonly states: States;
  readonly surroundings: Surroundings;
  /** Records events in the audit log, if there is one. Reports a record that cannot be stored to the user. */
  readonly emit: Emit;
  /** Runs a change, and records its start and its outcome in the audit log, if there is one. */
  readonly recorded: RecordedChange;
}) => Promise<ExitCode>;

/** `action` is the name of the corresponding REST operation. */
export type RecordedChange = <Result>(
  action: string,
  targets: readonly string[],
  run: () => Promise<Result>,
) => Promise<Result>;

/** Runs a step on the configured state. `what` describes its content in messages: "Pins". */
export function withKeptState(what: string, input: Input, terminal: Terminal, run: RunKept<readonly [SharedState]>) {
  const open: OpenStates<readonly [SharedState]> = (config, surroundings) => {
    if (stateType(config.state) === "memory") throw keptInMemory(what, SET_FILE);
    return [configuredState(config, surroundings)];
  };
  return withStates(input, terminal, open, run);
}

/** Runs a step on all approval stores whose calls the local operator can answer. */
export function withKeptApprovals(input: Input, terminal: Terminal, run: RunKept<readonly SharedState[]>) {
  const open: OpenStates<readonly SharedState[]> = (config, surroundings) => {
    const places = approvalPlaces(config, terminal);
    if (places === undefined)
      throw keptInMemory("Approvals", `${SET_FILE} Or answer over HTTP: see docs/guides/approvals.md.`);
    const files = places.files.map((file) => stateInFile(file, surroundings));
    return places.configured ? [configuredState(config, surroundings), ...files] : files;
  };
  return withStates(input, terminal, open, run);
}

async function withStates<States extends readonly SharedState[]>(
  input: Input,
  terminal: Terminal,
  open: OpenStates<States>,
  run: RunKept<States>,
): Promise<ExitCode> {
  const config = await readSettings(input, terminal);
  const surroundings = createSurroundings(config, terminal);
  const states = open(config, surroundings);
  const log = configuredAudit(config, surroundings);
  const silent: Emit = () => {};
  const report: Emit = (name, data) => {
    if (name === "audit-failed") terminal.err.write(`Not recorded: ${(data as EventMap["audit-failed"]).message}\n`);
  };
  const audit = log && configuredCallAudit(config, log, { ...surroundings, emit: report });
  try {
    const recorded: RecordedChange = (...change) => recordChange(audit, ...change);
    return await run({ config, states, surroundings, emit: audit ? withAudit(silent, audit) : silent, recorded });
  } finally {
    await audit?.close();
    await log?.close();
    for (const state of states) await state.close();
    surroundings.egress.close();
  }
}

async function recordChange<Result>(
  audit: CallAudit | undefined,
  action: string,
  targets: readonly string[],
  run: () => Promise<Result>,
): Promise<Result> {
  if (audit === undefined) return run();
  const common = { kind: "operator-action", id: randomUUID(), action, targets, by: localOperator().id } as const;
  const refuse = (what: string, problem: string | undefined): void => {
    if (problem === undefined) return;
    throw fixable("AUDIT_FAILED", `${action} ${what}: ${problem}.`, "Make the audit log writable.");
  };
  refuse("was refused: it cannot be recorded", await audit.record({ ...common, outcome: "started" }));
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    const code = isArsenalError(error) ? error.code : "INTERNAL_ERROR";
    await audit.record({ ...common, outcome: "failed", code });
    throw error;
  }
  refuse("was done, but could not be recorded", await audit.record({ ...common, outcome: "done" }));
  return result;
}

const SET_FILE =
  "Set state.file to a file, such as ./.toolarsenal/state.sqlite, or state.type to another store, and restart the gateway.";

function keptInMemory(what: string, fix: string): ArsenalError {
  const problem = `${what} are kept in memory by the gateway, so this command cannot see them.`;
  return fixable("CONFIG_INVALID", problem, fix, { field: "state.file" });
}
