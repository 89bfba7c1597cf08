import { createRandom } from "../../src/eval/random.ts";
import { ATTACKS, HARMLESS, SLOTS } from "./phrasings.ts";

/** A text made from a pattern. */
export interface Phrasing {
  readonly text: string;
  readonly malicious: boolean;
  readonly place: "definition" | "result";
  /** The kind of attack or harmless text, as in `phrasings.ts`. */
  readonly kind: string;
}

/** Texts drawn from each pattern. */
const DRAWS = 16;

/** Fills in every pattern several times, deterministically. */
export function phrasings(): readonly Phrasing[] {
  const random = createRandom(1);
  const choose = (options: readonly string[]): string => options[Math.floor(random() * options.length)] ?? "";
  const fill = (pattern: string): string =>
    pattern
      .replaceAll(/\{(\w+)\}/g, (whole, slot: string) => (SLOTS[slot] === undefined ? whole : fill(choose(SLOTS[slot]))))
      .replaceAll(/\(([^()|]*(?:\|[^()|]*)+)\)/g, (_, options: string) => fill(choose(options.split("|"))));
  return [ATTACKS, HARMLESS].flatMap((table) =>
    Object.entries(table).flatMap(([kind, patterns]) =>
      patterns.flatMap((pattern) =>
        [...new Set(Array.from({ length: DRAWS }, () => fill(pattern)))].map((text) => ({
          text,
          malicious: table === ATTACKS,
          place: kind.startsWith("result") ? ("result" as const) : ("definition" as const),
          kind,
        })),
      ),
    ),
  );
}
