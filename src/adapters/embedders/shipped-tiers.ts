import type { Tier } from "../../catalog/tiers.ts";
import { simdVectors } from "../stores/simd-vectors.ts";
import { cachedEmbedder } from "./cached.ts";
import { staticEmbedder } from "./static.ts";
import { tunedEmbedder } from "./tuned.ts";

/** The rankers that ship with the package, from the least to the best. */
export const TIERS = ["lexical", "static", "tuned"] as const;
export type TierName = (typeof TIERS)[number];

/** What the shipped tiers may be told. */
export interface ShippedTiersOptions {
  /** The best that may answer. `tuned` where absent. */
  readonly best?: TierName;
  /** A folder that tools' vectors are kept in between runs, or false. The user's cache folder where absent. */
  readonly cache?: string | false;
  /** Called where the tuned model's file is not there, as in a bundle: the static tier is then the best. */
  readonly onMissing?: (error: unknown) => void;
}

/** The shipped embedders up to the best allowed, each with its index. Nothing is loaded before it is used. */
export function shippedTiers({ best = "tuned", cache, onMissing }: ShippedTiersOptions = {}): readonly Tier[] {
  if (best === "lexical") return [];
  const tiers: Tier[] = [{ name: "static", embedder: staticEmbedder(), vectors: simdVectors() }];
  if (best === "static") return tiers;
  try {
    const tuned = tunedEmbedder();
    const embedder = cache === false ? tuned : cachedEmbedder(tuned, cache === undefined ? {} : { folder: cache });
    return [...tiers, { name: "tuned", embedder, vectors: simdVectors() }];
  } catch (error) {
    onMissing?.(error);
    return tiers;
  }
}

/** The best tier where a configuration does not say: `TOOLARSENAL_TIER` of the environment, or `tuned`. */
export function defaultTier(environment: Readonly<Record<string, string | undefined>> = process.env): TierName {
  const named = environment["TOOLARSENAL_TIER"];
  return TIERS.find((tier) => tier === named) ?? "tuned";
}
