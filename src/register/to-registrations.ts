import type { Emit } from "../observe/events.ts";
import { normaliseTool } from "../tool/normalise/normalise-tool.ts";
import { toName, toNamespace } from "../tool/normalise/slug.ts";
import { mapInTurns } from "./in-turns.ts";
import type { Registration } from "./registry.ts";
import type { OfferedTool, Source } from "./source.port.ts";

interface ToRegistrationsParts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Returns true for an id that belongs to another ensemble, or to none. */
  readonly isForeign?: (id: string) => boolean;
  /** Reserves each id as soon as it is assigned. */
  readonly claim?: (id: string) => void;
  readonly signal?: AbortSignal;
  /** Reports each tool that claims a namespace that its source may not use. */
  readonly emit?: Emit;
}

/**
 * Converts a source's drafts to tools with handlers. A valid name goes to the tool that has it unchanged. If several names normalise to the same id,
 * the later ones in alphabetical order get a hash suffix, independent of the listed order. Tools whose id belongs to another ensemble get a suffix
 * too.
 */
export async function toRegistrations(
  offered: readonly OfferedTool[],
  source: Pick<Source, "name" | "kind" | "namespaces" | "capabilities" | "trustsAnnotations">,
  { now, isForeign = () => false, claim, signal, emit = () => {} }: ToRegistrationsParts,
): Promise<readonly Registration[]> {
  const { name: ensemble, kind, capabilities = [], trustsAnnotations = false, namespaces = [ensemble] } = source;
  const own = namespaces === "any" ? undefined : new Set(namespaces.map(toNamespace));
  const used = new Set<string>();
  const origin = {
    source: kind,
    namespace: namespaces === "any" ? ensemble : (namespaces[0] ?? ensemble),
    ensemble,
    capabilities,
    trustsAnnotations,
    createdAt: now,
    mayUse: (namespace: string) => own?.has(namespace) ?? true,
    taken: (id: string) => used.has(id) || isForeign(id),
  };
  const toRegistration = (offer: OfferedTool): Registration => {
    const tool = normaliseTool(offer?.draft, origin);
    used.add(tool.id);
    claim?.(tool.id);
    const namespace: unknown = offer?.draft?.namespace;
    if (typeof namespace === "string" && namespace.trim() !== "" && !origin.mayUse(toNamespace(namespace)))
      emit("namespace-refused", { ensemble, toolId: tool.id, namespace });
    return typeof offer?.handler === "function" ? { tool, handler: offer.handler } : { tool };
  };
  const turns = { ...(signal && { signal }) };
  const fitting = await mapInTurns(offered.filter(hasFittingName), toRegistration, turns);
  const others = [...offered.filter((offer) => !hasFittingName(offer)).entries()];
  const inOrder = others.sort(([, one], [, other]) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const toPlaced = ([place, offer]: readonly [number, OfferedTool]) => ({ place, registration: toRegistration(offer) });
  const named = await mapInTurns(inOrder, toPlaced, turns);
  const asListed = named.sort((one, other) => one.place - other.place);
  return [...fitting, ...asListed.map(({ registration }) => registration)];
}

function hasFittingName(offer: OfferedTool): boolean {
  const name = nameOf(offer);
  return name !== "" && toName(name) === name;
}

function nameOf(offer: OfferedTool): string {
  const name: unknown = offer?.draft?.name;
  return typeof name === "string" ? name : "";
}
