/** The key that records the loss of earlier state. Adapters write it into the state that replaces the lost one. It is never removed. */
export const STATE_LOST = "state-lost";

export interface StateLoss {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly why: string;
}
