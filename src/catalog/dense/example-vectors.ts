/** An example speaks for its tool, but a little less loudly than the tool's own text. */
const EXAMPLE_SHARE = 0.95;

/** Ids of the vectors of a tool's examples: no tool's id has a `#` in it. */
export function exampleIds(toolId: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${toolId}#${index + 1}`);
}

/** The tool a vector belongs to. */
export function toolIdOf(id: string): string {
  const end = id.indexOf("#");
  return end < 0 ? id : id.slice(0, end);
}

/** One cosine a tool, from those of its own vector and of its examples; those of unknown vectors do not count. */
export function bestOfExamples(
  ids: readonly string[],
  cosines: readonly (number | undefined)[],
): ReadonlyMap<string, number> {
  const best = new Map<string, number>();
  ids.forEach((id, index) => {
    const toolId = toolIdOf(id);
    const cosine = cosines[index];
    if (cosine === undefined) return;
    const counted = toolId === id ? cosine : EXAMPLE_SHARE * cosine;
    best.set(toolId, Math.max(counted, best.get(toolId) ?? -1));
  });
  return best;
}

/** A set of tools as the set of all their vectors, without copying it. */
export function withExamples(tools: ReadonlySet<string>, examples: ReadonlyMap<string, number>): ReadonlySet<string> {
  function* ids(): IterableIterator<string> {
    for (const id of tools) {
      yield id;
      yield* exampleIds(id, examples.get(id) ?? 0);
    }
  }
  let size = tools.size;
  for (const [id, count] of examples) if (tools.has(id)) size += count;
  return setView({ size, has: (id) => tools.has(toolIdOf(id)), ids });
}

/** A read-only set that is computed instead of stored. */
export function setView(of: {
  readonly size: number;
  readonly has: (id: string) => boolean;
  readonly ids: () => IterableIterator<string>;
}): ReadonlySet<string> {
  const { size, has, ids } = of;
  const view = {
    size,
    has,
    keys: ids,
    values: ids,
    *entries(): IterableIterator<[string, string]> {
      for (const id of ids()) yield [id, id];
    },
    forEach(callback: (value: string, key: string, set: ReadonlySet<string>) => void): void {
      for (const id of ids()) callback(id, id, view);
    },
    [Symbol.iterator]: ids,
  } as unknown as ReadonlySet<string>;
  return view;
}
