import type { Screening } from "../scan/screening.ts";
import type { OfferedEnsemble, PinGuard, ReviewedEnsemble } from "./pins.ts";

type Screen = Screening["instructions"];

export function screenedOffer(offer: OfferedEnsemble, screen: Screen): OfferedEnsemble {
  const { ensemble, instructions } = offer;
  return instructions === undefined ? offer : { ...offer, instructions: screen(ensemble, instructions) };
}

/** Screens a server's instructions before the pins get them. Removed text is neither recorded nor passed on. */
export function screenedPins(pins: PinGuard, screen: Screen): PinGuard {
  return {
    ...pins,
    review: (offer): Promise<ReviewedEnsemble> => pins.review(screenedOffer(offer, screen)),
    instructions: (ensemble, offered) =>
      pins.instructions(ensemble, offered === undefined ? undefined : screen(ensemble, offered)),
  };
}
