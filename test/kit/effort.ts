/** True in `npm run test:deep`, which takes hours and tries far more. */
export const IS_DEEP: boolean = process.env["TOOLARSENAL_DEEP"] === "1";

/** The seed of this run. vitest.config.ts picks it; `TOOLARSENAL_SEED=…` repeats a run. */
export const SEED: number = Number(process.env["TOOLARSENAL_SEED"] ?? 20_260_728);

/** Cases of a property whose cases are cheap. */
export const CASES: number = IS_DEEP ? 5_000 : 300;

/** How often something is repeated, if its repetitions are expensive. */
export function repeats(usual: number, deep: number = usual * 10): number {
  return IS_DEEP ? deep : usual;
}

/** Yields every `apart`-th item, from a start that the seed decides, and all of them in a deep run. For items that are too large to be kept. */
export function* everyNth<Item>(items: Iterable<Item>, apart: number): Iterable<Item> {
  let place = SEED % apart;
  for (const item of items) if (place++ % apart === 0 || IS_DEEP) yield item;
}

/**
 * Picks the items that this run tries: `count` of them, spread evenly from a start that the seed decides, in their order. A deep run tries all of them.
 * Lists with different names start in different places.
 */
export function some<Item>(items: readonly Item[], count: number, name = ""): readonly Item[] {
  if (IS_DEEP || items.length <= count) return items;
  const start = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), SEED) % items.length;
  const picked = new Set(
    Array.from({ length: count }, (_, at) => (start + Math.floor((at * items.length) / count)) % items.length),
  );
  return items.filter((_, place) => picked.has(place));
}
