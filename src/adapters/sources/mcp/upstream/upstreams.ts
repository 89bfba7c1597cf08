import type { Registration, Registry } from "../../../../register/registry.ts";
import type { Source } from "../../../../register/source.port.ts";
import { isUnlisted } from "../../../../tool/tool.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";
import type { McpSource } from "../mcp.ts";
import type { McpUpstream } from "./upstream.ts";

/** The MCP servers of one arsenal. */
export type Upstreams = ReturnType<typeof createUpstreams>;

interface UpstreamsParts {
  /** Resolves when the tools that the server lists now are registered. */
  readonly relist: (ensemble: string) => Promise<void>;
  readonly registry: Pick<Registry, "own" | "ofEnsemble">;
}

/** One server with its request tools. */
interface Member {
  readonly upstream: McpUpstream;
  readonly attempted: Promise<void>;
  /** The prefix of tool ids that use the server's own names. */
  readonly prefix: string;
  readonly requests: ReadonlyMap<string, Required<Registration>>;
}

export function createUpstreams(parts: UpstreamsParts) {
  const { relist, registry } = parts;
  const members = new Map<string, Member>();
  /** Cached until a server is added or removed, because requests at a server's own address search the list. */
  let list: readonly McpUpstream[] | undefined;

  return {
    /** All servers, connected or not, in the order they were added. */
    all: (): readonly McpUpstream[] => (list ??= Array.from(members.values(), ({ upstream }) => upstream)),
    /** Registers the MCP server of a source while the source is added. Removes the server if adding fails. */
    async during<Result>(source: Source, adding: () => Promise<Result>): Promise<Result> {
      if (!isMcpSource(source)) return adding();
      const { name, upstream, capabilities } = source;
      const { createRequestTools, ownToolPrefix } = await import("./request-tools.ts");
      // Adding fails if the name is taken, and the existing server stays.
      if (members.has(name)) return adding();
      list = undefined;
      members.set(name, {
        upstream,
        prefix: ownToolPrefix(upstream.settings),
        attempted: upstream.attempted.then(() => relist(name)),
        requests: createRequestTools(upstream, capabilities),
      });
      try {
        return await adding();
      } catch (error) {
        members.delete(name);
        list = undefined;
        throw error;
      }
    },
    forget(name: string): void {
      members.delete(name);
      list = undefined;
    },
    /** Finds a server's request tool by its exact id (`files.resources/read`), or a tool by the server's own name (`files.tools/call/read-file`). */
    find(id: string): Registration | undefined {
      if (!isUnlisted(id)) return undefined;
      for (const { upstream, prefix, requests } of members.values()) {
        const request = requests.get(id);
        if (request !== undefined) return request;
        if (!id.startsWith(prefix)) continue;
        const sourceName = id.slice(prefix.length);
        const tool = registry.ofEnsemble(upstream.name).find((each) => each.sourceName === sourceName);
        const own = tool && registry.own(tool.id);
        if (own) return own;
      }
      return undefined;
    },
    /** Resolves when the first attempt to connect has ended, for every server or only for `name`. Its tools are then registered, or it failed. */
    async attempted({ name, signal }: { name?: string; signal?: AbortSignal | undefined }): Promise<void> {
      const asked = [...members].filter(([known]) => name === undefined || known === name);
      await untilAborted(Promise.all(asked.map(([, { attempted }]) => attempted)), signal);
    },
  };
}

function isMcpSource(source: Source): source is McpSource {
  return source.kind === "mcp" && "upstream" in source;
}
