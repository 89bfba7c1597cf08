import type { Egress } from "../../../../guard/egress/egress.ts";
import type { Secrets } from "../../../../guard/secrets/secrets.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { Emit } from "../../../../observe/events.ts";
import type { Found, Registration, Registry } from "../../../../register/registry.ts";
import type { Source } from "../../../../register/source.port.ts";
import { isUnlisted } from "../../../../tool/tool.ts";
import { untilAborted } from "../../../../catalog/dense/until-aborted.ts";
import type * as RequestTools from "./request-tools.ts";
import type { McpSource } from "../mcp.ts";
import type { AddServerOptions, McpServerSettings } from "../settings.ts";
import type { McpUpstream } from "./upstream.ts";

type FoundTool = Extract<Found, { readonly found: true }>;

/** The MCP servers of one arsenal. */
export interface Upstreams {
  /** Connected or not, in the order they were added. */
  all(): readonly McpUpstream[];
  /** Connects a server and adds its tools as an ensemble; with `patient` in the background, however long it takes. `egress` defaults to the arsenal's. Returns how many tools came. */
  add(settings: McpServerSettings, options: AddServerOptions & { readonly egress?: Egress }): Promise<number>;
  /** Takes in the server of a source that is being added, where it is an MCP server's; lets go of it where adding fails. */
  during<Result>(source: Source, adding: () => Promise<Result>): Promise<Result>;
  forget(name: string): void;
  /**
   * What a server answers beside tool calls, by its exact id: `files.resources/read`. It is in no list and no search. Also a server's tool by
   * the server's own name for it: `files.tools/call/read-file`.
   */
  find(id: string): FoundTool | undefined;
  /** Resolves when the first attempt to connect each server, or the one named, has ended: its tools are registered, or it failed. */
  attempted(options: { readonly name?: string; readonly signal?: AbortSignal | undefined }): Promise<void>;
}

/** What the servers need of their arsenal. */
export interface UpstreamsParts {
  readonly addEnsemble: (source: Source, options: { readonly signal?: AbortSignal | undefined }) => Promise<number>;
  /** Resolves when the ensemble's tools, as the server lists them now, are registered. */
  readonly relist: (ensemble: string) => Promise<void>;
  readonly registry: Pick<Registry, "own" | "ofEnsemble">;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly egress: Egress;
  readonly secrets: Secrets;
  /** Emits every message to and from the servers. */
  readonly debugProtocol: boolean;
}

/** One server, and what it answers beside tool calls. */
interface Member {
  readonly upstream: McpUpstream;
  readonly attempted: Promise<void>;
  /** What the server's own names of its tools stand behind. */
  readonly prefix: string;
  readonly requests: ReadonlyMap<string, Required<Registration>>;
}

/** No server yet. */
export function createUpstreams(parts: UpstreamsParts): Upstreams {
  const { addEnsemble, relist, registry, clock, emit, egress, secrets, debugProtocol } = parts;
  const members = new Map<string, Member>();
  const requests = new Map<string, Required<Registration>>();

  function take(
    { name, upstream, capabilities }: McpSource,
    { createRequestTools, ownToolPrefix }: typeof RequestTools,
  ): void {
    const member: Member = {
      upstream,
      prefix: ownToolPrefix(upstream.settings),
      attempted: upstream.attempted.then(() => relist(name)),
      requests: createRequestTools(upstream, capabilities),
    };
    members.set(name, member);
    for (const [id, registration] of member.requests) requests.set(id, registration);
  }

  function forget(name: string): void {
    for (const id of members.get(name)?.requests.keys() ?? []) requests.delete(id);
    members.delete(name);
  }

  function findOwn(name: string): FoundTool | undefined {
    for (const { upstream, prefix } of members.values()) {
      if (!name.startsWith(prefix)) continue;
      const sourceName = name.slice(prefix.length);
      const tool = registry.ofEnsemble(upstream.name).find((each) => each.sourceName === sourceName);
      const own = tool && registry.own(tool.id);
      if (own) return { found: true, tool: own.tool, handler: own.handler };
    }
    return undefined;
  }

  return {
    all: () => Array.from(members.values(), ({ upstream }) => upstream),
    async add(settings, { signal, ...options }) {
      const { mcpSource } = await import("../mcp.ts");
      const source = mcpSource(settings, { egress, ...options, clock, emit, secrets, debugProtocol });
      try {
        return await addEnsemble(source, { signal });
      } catch (error) {
        // A server whose name was taken had already started to connect.
        await source.disconnect();
        throw error;
      }
    },
    async during(source, adding) {
      if (!isMcpSource(source)) return adding();
      const requestTools = await import("./request-tools.ts");
      // An ensemble refuses a name that is taken, and the server that has it stays.
      if (members.has(source.name)) return adding();
      take(source, requestTools);
      try {
        return await adding();
      } catch (error) {
        forget(source.name);
        throw error;
      }
    },
    forget,
    find(id) {
      if (!isUnlisted(id)) return undefined;
      const registration = requests.get(id);
      return registration === undefined ? findOwn(id) : { found: true, ...registration };
    },
    async attempted({ name, signal }) {
      const asked = [...members].filter(([known]) => name === undefined || known === name);
      await untilAborted(Promise.all(asked.map(([, { attempted }]) => attempted)), signal);
    },
  };
}

function isMcpSource(source: Source): source is McpSource {
  return source.kind === "mcp" && "upstream" in source;
}
