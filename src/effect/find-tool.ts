import { internalsOf } from "../arsenal.ts";
import { Effect } from "effect";
import type { ToolArsenal } from "../arsenal.ts";
import type { AskedBy } from "../facade/options.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import { lookUp, spellingsOf } from "../register/look-up.ts";
import type { Tool } from "../tool/tool.ts";
import { fromAlias, isCutAlias, toAlias } from "../transcode/alias.ts";
import type { ListToolsOptions } from "../facade/visible-tools.ts";

/**
 * Finds a tool by the name that an agent uses, if the agent may see it: `server/tool` of an MCP server, a bare name, or any other name that `execute`
 * takes.
 */
export function findTool(arsenal: ToolArsenal, name: string, by: AskedBy): Effect.Effect<Tool | undefined, unknown> {
  const ask = <A>(question: () => Promise<A>): Effect.Effect<A, unknown> =>
    Effect.tryPromise({ try: question, catch: (error) => error });
  const list = (filter: Pick<ListToolsOptions, "filter">): Effect.Effect<readonly Tool[], unknown> =>
    ask(() => arsenal.listTools({ ...filter, ...by, includeRefused: true }));

  return Effect.gen(function* () {
    for (const { name: server } of internalsOf(arsenal).upstreams) {
      if (!name.startsWith(`${server}/`)) continue;
      const tools = yield* list({ filter: { ensembles: [server] } });
      const own = tools.find(({ sourceName }) => sourceName === name.slice(server.length + 1));
      if (own !== undefined) return own;
    }
    const registered = yield* ask(() => arsenal.getTool(name, "default", by));
    if (registered !== undefined) return registered;
    const { ids, names, aliases } = spellingsOf(name);
    const meant = { any: [{ ids: [...ids, ...aliases.flatMap((alias) => fromAlias(alias) ?? [])] }, { names }] };
    // The id cannot be read from a shortened alias.
    const found = yield* list(aliases.some(isCutAlias) ? {} : { filter: meant });
    return lookUp(name, {
      current: (id) => found.find((tool) => tool.id === id),
      aliased: (alias) => found.find((tool) => toAlias(tool.id) === alias),
      named: (bare) => found.filter((tool) => tool.name === bare),
    });
  }).pipe(
    Effect.catch((error) =>
      isArsenalError(error) && error.code === "TOOLSET_NOT_FOUND" ? Effect.undefined : Effect.fail(error),
    ),
  );
}
