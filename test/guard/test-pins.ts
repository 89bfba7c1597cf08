import { memoryState } from "../../src/adapters/state/memory.ts";
import { createPins, type PinsParts } from "../../src/guard/pins/create-pins.ts";
import type { PinGuard } from "../../src/guard/pins/pins.ts";
import type { PinMode } from "../../src/guard/pins/pin-record.ts";
import { localOperator, type Principal } from "../../src/guard/principal.ts";
import type { State } from "../../src/state/state.port.ts";
import type { Emit } from "../../src/observe/events.ts";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock.ts";
import type { SourceDraft } from "../../src/tool/draft.ts";
import { normaliseTool } from "../../src/tool/normalise/normalise-tool.ts";
import type { Tool } from "../../src/tool/tool.ts";

/** Somebody who may accept. */
export const dana: Principal = localOperator({ id: "dana" });

/** A tool as a server lists it. */
export const READ: Readonly<Record<string, unknown>> & {
  readonly inputSchema: Readonly<Record<string, unknown>> & { readonly properties: object };
} = {
  name: "read_file",
  title: "Read a file",
  description: "Reads a file and returns its text.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, mode: { enum: ["text", "bytes"] } },
    required: ["path", "mode"],
  },
  outputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};

/** A tool as the MCP source of a server makes it. What is changed comes first in its definition. */
export function listed(change: object = {}, ensemble = "files"): Tool {
  const raw: Record<string, unknown> = { ...change, ...READ, ...change };
  const draft = {
    name: raw["name"],
    description: raw["description"],
    parameters: raw["inputSchema"],
    returns: raw["outputSchema"],
    annotations: raw["annotations"],
    sourceMeta: { mcp: raw },
  } as SourceDraft;
  return normaliseTool(draft, { source: "mcp", namespace: "files", ensemble, createdAt: 0 });
}

/** Pins, and what a test sees of them. */
export interface PinsBench {
  readonly pins: PinGuard;
  /** Has the server "files" offer one tool. Returns what may be registered. */
  readonly review: (tool: Tool, instructions?: string) => Promise<readonly Tool[]>;
  readonly events: [string, unknown][];
  readonly clock: ManualClock;
  readonly state: State;
  /** The ensembles that are to be listed again. */
  readonly again: string[];
}

/** Pins over a state that tests can share, with what they tell. */
export function setUp({ mode = "changes", ...more }: Partial<PinsParts> & { readonly mode?: PinMode } = {}): PinsBench {
  const events: [string, unknown][] = [];
  const emit: Emit = (name, data) => void events.push([name, data]);
  const clock = createManualClock(1000);
  const state = memoryState({ clock }).documents;
  const again: string[] = [];
  const onAccepted = async (ensemble: string): Promise<void> => void again.push(ensemble);
  const pins = createPins({ state, clock, emit, mode, onAccepted, ...more });
  const review = async (tool: Tool, instructions?: string): Promise<readonly Tool[]> =>
    (await pins.review({ ensemble: "files", tools: [tool], ...(instructions !== undefined && { instructions }) }))
      .tools;
  return { pins, review, events, clock, state, again };
}

/** A state of which reading, or everything, fails until it is fixed. */
export function failing(inner: State): State & { broken: boolean } {
  const state = {
    ...inner,
    broken: true,
    get: (...given: Parameters<State["get"]>) =>
      state.broken ? Promise.reject(new Error("the disk is gone")) : inner.get(...given),
  };
  return state;
}
