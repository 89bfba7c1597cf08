import { Effect } from "effect";
import type { ToolArsenal } from "../arsenal.ts";
import type { AskedBy } from "../arsenal-options.ts";
import { lookUp, spellingsOf } from "../register/look-up.ts";
import type { Tool } from "../tool/tool.ts";
import { fromAlias, isCutAlias, toAlias } from "../transcode/alias.ts";

/**
 * The tool that an agent means, if the caller may see it: `server/tool` of an MCP server, a name in the default namespace, or whatever else
 * the arsenal's `execute` takes. Rejects with TOOLSET_NOT_FOUND if there is no such toolset.
 */
export function findTool(arsenal: ToolArsenal, name: string, by: AskedBy): Effect.Effect<Tool | undefined, unknown> {
  return Effect.gen(function* () {
    for (const { name: server } of arsenal.upstreams) {
      if (!name.startsWith(`${server}/`)) continue;
      const tools = yield* Effect.tryPromise({
        try: () => arsenal.listTools({ filter: { ensembles: [server] }, ...by }),
        catch: (error) => error,
      });
      const own = tools.find(({ sourceName }) => sourceName === name.slice(server.length + 1));
      if (own !== undefined) return own;
    }
    const registered = yield* Effect.tryPromise({
      try: () => arsenal.getTool(name, "default", by),
      catch: (error) => error,
    });
    if (registered !== undefined) return registered;
    const { ids, names, aliases } = spellingsOf(name);
    const meant = { any: [{ ids: [...ids, ...aliases.flatMap((alias) => fromAlias(alias) ?? [])] }, { names }] };
    const found = yield* Effect.tryPromise({
      // The id cannot be read from an alias that was cut.
      try: () => arsenal.listTools({ ...(aliases.some(isCutAlias) ? {} : { filter: meant }), ...by }),
      catch: (error) => error,
    });
    return lookUp(name, {
      current: (id) => found.find((tool) => tool.id === id),
      aliased: (alias) => found.find((tool) => toAlias(tool.id) === alias),
      named: (bare) => found.filter((tool) => tool.name === bare),
    });
  });
}
