import type { Source } from "../../../register/source.port.ts";
import { type A2aParts, a2aSource } from "./a2a.ts";
import type { A2aAgentSettings, AddAgentOptions } from "./settings.ts";

/** What adding an agent needs of the arsenal. @internal */
export interface AddAgentParts extends Required<A2aParts> {
  /** The agents that are to be connected, by name. One that is removed from here is not retried. */
  readonly agents: Map<string, A2aAgentSettings>;
  readonly addEnsemble: (source: Source, options: Pick<AddAgentOptions, "signal">) => Promise<number>;
  readonly isClosed: () => boolean;
}

const FIRST_RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;

/** Connects an agent. With `patient`, one that fails is retried in the background until it is removed, with growing pauses. @internal */
export async function addAgent(
  settings: A2aAgentSettings,
  { patient = false, ...options }: AddAgentOptions,
  parts: AddAgentParts,
): Promise<number> {
  const { agents, addEnsemble, isClosed, clock } = parts;
  const connect = (): Promise<number> => addEnsemble(a2aSource(settings, parts), options);
  const isWanted = (): boolean => agents.get(settings.name) === settings && !isClosed();

  function retryAfter(ms: number): void {
    const retry = (): void => {
      if (isWanted()) connect().catch(() => isWanted() && retryAfter(Math.min(ms * 2, MAX_RETRY_MS)));
    };
    clock.after(ms, retry, { background: true });
  }

  if (patient) agents.set(settings.name, settings);
  try {
    return await connect();
  } catch (error) {
    if (isWanted()) retryAfter(FIRST_RETRY_MS);
    throw error;
  }
}
