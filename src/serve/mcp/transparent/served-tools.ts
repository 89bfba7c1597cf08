import type { JsonObject } from "../../../mcp/protocol.ts";
import { saysNothingElse } from "../../../guard/pins/definition.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Tool } from "../../../tool/tool.ts";
import { changesTools, type ServedTools } from "../../served-arsenal.ts";

/** Which registered tool a name of the upstream stands for. */
export interface NameIndex {
  /** The tool's id; undefined where the catalog has no such tool of this upstream. */
  idOf(sourceName: string): Promise<string | undefined>;
  /**
   * Whether a principal may be shown an entry of the upstream's list: it may know of the tool, and the entry says nothing of it that was
   * not accepted.
   */
  shownTo(principal: Principal): Promise<(listed: JsonObject) => boolean>;
  close(): void;
}

/** Keeps the index of one ensemble's names, read again only after the catalog changed. */
export function createNameIndex(arsenal: ServedTools, ensemble: string): NameIndex {
  let ids: Promise<ReadonlyMap<string, string>> | undefined;
  const unsubscribe = arsenal.subscribe((event) => {
    if (changesTools(event)) ids = undefined;
  });

  async function read(): Promise<ReadonlyMap<string, string>> {
    return new Map((await ours()).map(({ sourceName, id }) => [sourceName, id]));
  }

  async function ours(principal?: Principal): Promise<readonly Tool[]> {
    const tools = await arsenal.listTools({ source: "mcp", ...(principal === undefined ? {} : { principal }) });
    return tools.filter((tool) => tool.ensemble === ensemble);
  }

  return {
    idOf: async (sourceName) => (await (ids ??= read())).get(sourceName),
    async shownTo(principal) {
      const visible = new Map((await ours(principal)).map((tool) => [tool.sourceName, tool]));
      return (listed) => {
        const tool = visible.get(String(listed["name"]));
        return tool !== undefined && (arsenal.pins === undefined || saysNothingElse(listed, tool));
      };
    },
    close: unsubscribe,
  };
}
