/** The key that records that earlier content of a state was lost. Adapters write it into the state that replaces the lost one. Never removed. */
export const STATE_LOST = "state-lost";

/** The value of that key. */
export interface StateLoss {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly why: string;
}
