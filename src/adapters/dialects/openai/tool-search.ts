import type { DeferredTool, ProviderSearch } from "../../../transcode/dialect.port.ts";
import type { ResponsesTool } from "./openai-responses.ts";

/** A tool of a request with the API's own tool search: a loaded tool, a namespace of deferred tools, or the search itself. */
export type ResponsesSearchedTool = ResponsesTool | ResponsesNamespace | { type: "tool_search" };

type ResponsesNamespace = {
  type: "namespace";
  name: string;
  description: string;
  tools: (ResponsesTool & { defer_loading: true })[];
};

/** The model sees only the names and descriptions of namespaces. OpenAI recommends fewer than ten functions in each. */
const MOST_IN_NAMESPACE = 9;
const MOST_ENTRIES = 128;
const NAME_LENGTH = 56;

/** Functions keep their aliases within a namespace, so a called name means the same tool in any request. */
export const TOOL_SEARCH: ProviderSearch<ResponsesTool, ResponsesSearchedTool> = {
  write(loaded, deferred) {
    if (deferred.length === 0) return [...loaded];
    return [{ type: "tool_search" }, ...loaded, ...toNamespaces(deferred, MOST_ENTRIES - 1 - loaded.length)];
  },
};

type Deferred = DeferredTool<ResponsesTool>;

function toNamespaces(deferred: readonly Deferred[], most: number): readonly ResponsesNamespace[] {
  const byNamespace = [...Map.groupBy(deferred, ({ tool }) => tool.namespace).values()];
  const taken = new Set<string>();
  return grouped(byNamespace, deferred, most).map((group) => {
    const namespaces = [...new Set(group.map(({ tool }) => tool.namespace))];
    const names = group.map(({ tool }) => tool.name).join(", ");
    return {
      type: "namespace",
      name: freeName(namespaces.length === 1 ? String(namespaces[0]) : "tools", taken),
      description: `${namespaces.join(", ")}: ${names}`,
      tools: group.map(({ definition }) => ({ ...definition, defer_loading: true })),
    };
  });
}

/**
 * Groups the tools of one namespace into groups that are as small as the request allows. If there are more namespaces than entries, neighbours share
 * a group.
 */
function grouped(
  byNamespace: readonly (readonly Deferred[])[],
  all: readonly Deferred[],
  most: number,
): readonly (readonly Deferred[])[] {
  if (byNamespace.length > most) return chunks(all, Math.ceil(all.length / most));
  for (let size = MOST_IN_NAMESPACE; ; size++) {
    const groups = byNamespace.flatMap((tools) => chunks(tools, size));
    if (groups.length <= most) return groups;
  }
}

function chunks(tools: readonly Deferred[], size: number): readonly (readonly Deferred[])[] {
  const count = Math.ceil(tools.length / size);
  const even = Math.ceil(tools.length / count);
  return Array.from({ length: count }, (_, at) => tools.slice(at * even, (at + 1) * even)).filter(
    ({ length }) => length > 0,
  );
}

function freeName(namespace: string, taken: Set<string>): string {
  const name = namespace.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, NAME_LENGTH);
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}_${count}`;
  taken.add(free);
  return free;
}
