import type { OfferedEnsemble, ReviewedEnsemble } from "../guard/pins/pins.ts";
import type { Emit } from "../observe/events.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import type { Tool } from "../tool/tool.ts";
import { mapInTurns } from "./in-turns.ts";
import type { Registration, Registry } from "./registry.ts";
import type { OfferedTool, Source } from "./source.port.ts";
import { toRegistrations } from "./to-registrations.ts";

export interface TakeInParts {
  readonly registry: Pick<Registry, "add" | "own" | "others" | "ofEnsemble" | "deleteAll">;
  readonly emit: Emit;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The ensemble for which each id is reserved while its offer is reviewed, so that no id is assigned twice. */
  readonly claims: Map<string, string>;
  /** Returns the tool to register; undefined if it may not be registered. Defaults to the unchanged tool. */
  readonly screen?: ((tool: Tool) => Tool | undefined) | undefined;
  /** Returns the part of an offer that may be registered. Defaults to all of it. */
  readonly review?: ((offer: OfferedEnsemble) => Promise<ReviewedEnsemble>) | undefined;
  /** Fires when the ensemble is removed. */
  readonly signal: AbortSignal;
}

/** Registers the accepted tools of a source, and removes the tools that it no longer offers. Returns the number of its tools. */
export async function takeIn(offered: readonly OfferedTool[], source: Source, parts: TakeInParts): Promise<number> {
  const { registry, emit, now, claims, screen, review, signal } = parts;
  const elsewhere = { all: [{ namespaces: namespacesOf(offered, source) }, { not: { ensembles: [source.name] } }] };
  const taken = new Set(await registry.others(elsewhere));
  const isForeign = (id: string): boolean => {
    const tool = registry.own(id)?.tool;
    if (tool === undefined ? taken.has(id) : tool.ensemble !== source.name) return true;
    return (claims.get(id) ?? source.name) !== source.name;
  };
  const claimed: string[] = [];
  const claim = (id: string): void => {
    claimed.push(id);
    claims.set(id, source.name);
  };
  try {
    const all = await toRegistrations(offered, source, { now, emit, isForeign, claim, signal });
    const screened = (registration: Registration): Registration[] => {
      const tool = screen === undefined ? registration.tool : screen(registration.tool);
      return tool === undefined ? [] : [{ ...registration, tool }];
    };
    const registrations = (await mapInTurns(all, screened, { signal })).flat();
    const tools = registrations.map(({ tool }) => tool);
    const instructions = source.instructions?.();
    const offer = { ensemble: source.name, tools, ...(instructions !== undefined && { instructions }) };
    const reviewed = review === undefined ? offer : await review(offer);
    signal.throwIfAborted();
    const byId = new Map(registrations.map((registration) => [registration.tool.id, registration]));
    const kept = reviewed.tools.map((tool) => ({ ...byId.get(tool.id), tool }));
    const ids = new Set(kept.map(({ tool }) => tool.id));
    // Removed first, so that new tools have room and callers stop seeing the old ones immediately. If the engine cannot delete them now, the next
    // sync does.
    const before = [
      ...registry.ofEnsemble(source.name).map(({ id }) => id),
      ...(await registry.others({ ensembles: [source.name] })),
    ];
    const vanished = before.filter((id) => !ids.has(id));
    const gone = registry.deleteAll(vanished).catch(() => {});
    const refused = await mapInTurns(slicesOf(kept, 20), (slice) => registry.add(slice).length, { signal });
    await gone;
    return kept.length - refused.reduce((sum, count) => sum + count, 0);
  } finally {
    for (const id of claimed) claims.delete(id);
  }
}

function namespacesOf(offered: readonly OfferedTool[], { name, namespaces }: Source): readonly string[] {
  const named = offered.flatMap((offer) => offer?.draft?.namespace ?? []).filter((each) => typeof each === "string");
  const own = namespaces === undefined || namespaces === "any" ? [] : namespaces;
  return [...new Set([name, ...own, ...named].map(toNamespace))];
}

function slicesOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, place) =>
    items.slice(place * size, (place + 1) * size),
  );
}
