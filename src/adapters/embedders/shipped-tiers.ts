import type { Tier } from "../../catalog/dense/tiers.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { Emit } from "../../observe/events.ts";
import { cachedEmbedder } from "./cached.ts";
import { staticEmbedder } from "./static.ts";
import { tunedEmbedder } from "./tuned.ts";

/** The rankers in the package, from weakest to best. */
export const TIERS = ["lexical", "static", "tuned"] as const;
export type TierName = (typeof TIERS)[number];

export interface ShippedTiersOptions {
  /** The best tier to use. Defaults to the environment variable `TOOLARSENAL_TIER`, or else to `tuned`. */
  readonly tier?: TierName;
  /** A folder that caches the vectors of tools between runs, or true for the user's cache folder. Defaults to false. */
  readonly cache?: string | boolean;
}

/**
 * Creates the shipped embedders up to the best allowed tier, weakest first. If the tuned model's file is missing, emits `embedder-failed` and stops
 * at static.
 */
export function shippedTiers(
  { tier = defaultTier(), cache = false }: ShippedTiersOptions,
  emit: Emit,
): readonly Tier[] {
  if (tier === "lexical") return [];
  const tiers: Tier[] = [{ name: "static", embedder: staticEmbedder() }];
  if (tier === "static") return tiers;
  try {
    const tuned = tunedEmbedder();
    const embedder = cache === false ? tuned : cachedEmbedder(tuned, cache === true ? {} : { folder: cache });
    return [...tiers, { name: "tuned", embedder }];
  } catch (error) {
    emit("embedder-failed", { model: "tuned", tools: 0, message: messageOf(error) });
    return tiers;
  }
}

function defaultTier(): TierName {
  return TIERS.find((tier) => tier === process.env["TOOLARSENAL_TIER"]) ?? "tuned";
}
