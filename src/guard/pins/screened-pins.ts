import type { Screening } from "../scan/screening.ts";
import type { OfferedEnsemble, PinGuard, ReviewedEnsemble } from "./pins.ts";

type Screen = Screening["instructions"];

/** An offer whose instructions are what may be passed on of them. */
export function screenedOffer(offer: OfferedEnsemble, screen: Screen): OfferedEnsemble {
  const { ensemble, instructions } = offer;
  return instructions === undefined ? offer : { ...offer, instructions: screen(ensemble, instructions) };
}

/** Pins that see a server's instructions only once they were screened: what is taken out is neither recorded nor passed on. */
export function screenedPins(pins: PinGuard, screen: Screen): PinGuard {
  return {
    ...pins,
    review: (offer): Promise<ReviewedEnsemble> => pins.review(screenedOffer(offer, screen)),
    instructions: (ensemble, offered) =>
      pins.instructions(ensemble, offered === undefined ? undefined : screen(ensemble, offered)),
  };
}
