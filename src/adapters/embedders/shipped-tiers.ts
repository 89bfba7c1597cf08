import type { Tier } from "../../catalog/tiers.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Emit } from "../../observe/events.ts";
import { simdVectors } from "../stores/simd-vectors.ts";
import { cachedEmbedder } from "./cached.ts";
import { staticEmbedder } from "./static.ts";
import { tunedEmbedder } from "./tuned.ts";

/** The rankers that ship with the package, from the least to the best. */
export const TIERS = ["lexical", "static", "tuned"] as const;
export type TierName = (typeof TIERS)[number];

/** What the shipped tiers may be told. */
export interface ShippedTiersOptions {
  /** The best that may answer. Where absent: `TOOLARSENAL_TIER` of the environment, or `tuned`. */
  readonly tier?: TierName;
  /** A folder that tools' vectors are kept in between runs, or false. The user's cache folder where absent. */
  readonly cache?: string | false;
}

/**
 * The shipped embedders up to the best allowed, each with its index. Nothing is loaded before it is used. Where the tuned model's file is not
 * there, as in a bundle, `embedder-failed` says so and the static tier is the best.
 */
export function shippedTiers({ tier = defaultTier(), cache }: ShippedTiersOptions, emit: Emit): readonly Tier[] {
  if (tier === "lexical") return [];
  const tiers: Tier[] = [{ name: "static", embedder: staticEmbedder(), vectors: simdVectors() }];
  if (tier === "static") return tiers;
  try {
    const tuned = tunedEmbedder();
    const embedder = cache === false ? tuned : cachedEmbedder(tuned, cache === undefined ? {} : { folder: cache });
    return [...tiers, { name: "tuned", embedder, vectors: simdVectors() }];
  } catch (error) {
    const message = error instanceof Error ? error.message : showValue(error);
    emit("embedder-failed", { model: "tuned", tools: 0, message });
    return tiers;
  }
}

function defaultTier(): TierName {
  return TIERS.find((tier) => tier === process.env["TOOLARSENAL_TIER"]) ?? "tuned";
}
