import type { JsonObject } from "../../../mcp/protocol.ts";
import { saysNothingElse } from "../../../guard/pins/definition.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Tool } from "../../../tool/tool.ts";
import { CHANGES_TOOLS, type ServedTools } from "../../served-arsenal.ts";

export type NameIndex = ReturnType<typeof createNameIndex>;

/** Creates the index of one ensemble's names. It is read again only after a change of the catalog. */
export function createNameIndex(arsenal: ServedTools, ensemble: string) {
  let ids: Promise<ReadonlyMap<string, string>> | undefined;
  const unsubscribe = arsenal.subscribe(() => (ids = undefined), { names: CHANGES_TOOLS });

  async function read(): Promise<ReadonlyMap<string, string>> {
    return new Map((await ours({ includeRefused: true })).map(({ sourceName, id }) => [sourceName, id]));
  }

  async function ours(by: {
    readonly principal?: Principal;
    readonly includeRefused?: true;
  }): Promise<readonly Tool[]> {
    const tools = await arsenal.listTools({ source: "mcp", ...by });
    return tools.filter((tool) => tool.ensemble === ensemble);
  }

  return {
    /** Returns the tool's id; undefined if the catalog has no such tool of this upstream. */
    idOf: async (sourceName: string): Promise<string | undefined> => (await (ids ??= read())).get(sourceName),
    /**
     * Returns a check for the entries of the upstream's list: a principal sees an entry if it may call the tool, and if the entry's content was
     * accepted.
     */
    async shownTo(principal: Principal): Promise<(listed: JsonObject) => boolean> {
      const visible = new Map((await ours({ principal })).map((tool) => [tool.sourceName, tool]));
      return (listed) => {
        const tool = visible.get(String(listed["name"]));
        return tool !== undefined && (arsenal.pins === undefined || saysNothingElse(listed, tool));
      };
    },
    close: unsubscribe,
  };
}
