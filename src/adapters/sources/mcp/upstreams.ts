import type { Clock } from "../../../observe/clock.ts";
import type { Emit } from "../../../observe/events.ts";
import type { Source } from "../../../register/source.port.ts";
import { untilAborted } from "../../../catalog/until-aborted.ts";
import type { McpServerSettings } from "./settings.ts";
import type { McpUpstream } from "./upstream.ts";

/** The MCP servers of one arsenal. */
export interface Upstreams {
  /** Connected or not, in the order they were added. */
  all(): readonly McpUpstream[];
  /** Connects a server and adds its tools as an ensemble; with `patient` in the background, however long it takes. Returns how many tools came. */
  add(settings: McpServerSettings, options: { readonly patient?: boolean }): Promise<number>;
  forget(name: string): void;
  /** Resolves when the first attempt to connect each server, or the one named, has ended: its tools are registered, or it failed. */
  attempted(options: { readonly name?: string; readonly signal?: AbortSignal }): Promise<void>;
}

/** What the servers need of their arsenal. */
export interface UpstreamsParts {
  readonly addEnsemble: (source: Source) => Promise<number>;
  /** Resolves when the ensemble's tools, as the server lists them now, are registered. */
  readonly relist: (ensemble: string) => Promise<void>;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** No server yet. */
export function createUpstreams({ addEnsemble, relist, clock, emit }: UpstreamsParts): Upstreams {
  const upstreams = new Map<string, { readonly upstream: McpUpstream; readonly attempted: Promise<void> }>();
  return {
    all: () => Array.from(upstreams.values(), ({ upstream }) => upstream),
    async add(settings, options) {
      const { mcp } = await import("./mcp.ts");
      const source = mcp(settings, { ...options, clock, emit });
      const { name, upstream } = source;
      // An ensemble refuses a name that is taken, and the server that has it stays.
      if (upstreams.has(name)) return addEnsemble(source);
      upstreams.set(name, { upstream, attempted: upstream.attempted.then(() => relist(name)) });
      try {
        return await addEnsemble(source);
      } catch (error) {
        upstreams.delete(name);
        throw error;
      }
    },
    forget: (name) => void upstreams.delete(name),
    async attempted({ name, signal }) {
      const asked = [...upstreams].filter(([known]) => name === undefined || known === name);
      await untilAborted(Promise.all(asked.map(([, { attempted }]) => attempted)), signal);
    },
  };
}
