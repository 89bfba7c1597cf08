import { configuredAudit, configuredCallAudit, configuredState } from "../config/arsenal-parts.ts";
import { loadConfig } from "../config/load-config.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { withAudit } from "../guard/audit/call-audit.ts";
import type { State } from "../guard/state.port.ts";
import { systemClock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Input, Terminal } from "./command.ts";
import { configPath } from "./open-arsenal.ts";

/** What another process may be using at the same time. */
export interface KeptState {
  readonly config: ResolvedConfig;
  readonly state: State;
  /** Records in the audit log what is told, where there is one; a record that is not kept is told to the person. */
  readonly emit: Emit;
}

/** Runs something on the state that the configuration names, and lets go of it. `what` is kept there: `Approvals`, `Pins`. */
export async function withKeptState(
  what: string,
  input: Input,
  terminal: Terminal,
  run: (kept: KeptState) => Promise<number>,
): Promise<number> {
  const { config } = await loadConfig(configPath(input, terminal), terminal.environment, { folder: terminal.folder });
  if (config.state.file === undefined) throw keptInMemory(what);
  const state = configuredState(config, systemClock);
  const log = configuredAudit(config, systemClock);
  try {
    const emit = log === undefined ? silent : withAudit(silent, configuredCallAudit(config, log, telling(terminal)));
    return await run({ config, state, emit });
  } finally {
    await log?.close();
    await state.close();
  }
}

const silent: Emit = () => {};

function telling({ err }: Terminal): Emit {
  return (name, data) => {
    if (name === "audit-failed") err.write(`Not recorded: ${(data as { readonly message: string }).message}\n`);
  };
}

function keptInMemory(what: string): ArsenalError {
  const fix = "Set state.file, such as ./.toolarsenal/state.sqlite, for the process that serves and for this one.";
  const message = `${what} are kept in the memory of the process that serves, where this one cannot see them. ${fix}`;
  return new ArsenalError("CONFIG_INVALID", message, { field: "state.file", fix });
}
