/** The key under which a state remembers that earlier content was lost. Adapters write it into the state that replaces the lost one. Never removed. */
export const STATE_LOST = "state-lost";

/** What is kept under that key. */
export interface StateLoss {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly why: string;
}
