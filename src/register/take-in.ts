import { normaliseTool } from "../tool/normalise-tool.ts";
import { NAME_PATTERN } from "../tool/limits.ts";
import type { Tool } from "../tool/tool.ts";
import type { Registration, Registry } from "./registry.ts";
import type { OfferedTool, Source } from "./source.port.ts";

/**
 * Registers what a source offers and returns the ids of tools it offered before and no longer does. A name that fits as it is goes to the
 * tool that has it; of tools whose names become the same, later ones get a hash tail, as do those whose id belongs to another ensemble.
 */
export function takeIn(
  offered: readonly OfferedTool[],
  source: Pick<Source, "name" | "kind">,
  registry: Pick<Registry, "add" | "get" | "ofEnsemble">,
  now: number,
): { readonly tools: readonly Tool[]; readonly vanished: readonly string[] } {
  const used = new Set<string>();
  const origin = {
    source: source.kind,
    namespace: source.name,
    ensemble: source.name,
    createdAt: now,
    taken: (id: string) => used.has(id) || isForeign(registry.get(id), source.name),
  };
  const inOrder = [...offered.filter(hasFittingName), ...offered.filter((offer) => !hasFittingName(offer))];
  const registrations = inOrder.map((offer): Registration => {
    const tool = normaliseTool(offer?.draft, origin);
    used.add(tool.id);
    return typeof offer?.handler === "function" ? { tool, handler: offer.handler } : { tool };
  });
  const vanished = registry.ofEnsemble(source.name).flatMap(({ id }) => (used.has(id) ? [] : [id]));
  registry.add(registrations);
  return { tools: registrations.map(({ tool }) => tool), vanished };
}

function hasFittingName(offer: OfferedTool): boolean {
  const name: unknown = offer?.draft?.name;
  return typeof name === "string" && NAME_PATTERN.test(name);
}

/** True for a tool of another ensemble, or of none. */
function isForeign(tool: Tool | undefined, ensemble: string): boolean {
  return tool !== undefined && tool.ensemble !== ensemble;
}
