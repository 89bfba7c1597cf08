/**
 * The key under which a state remembers that earlier content was lost: its file was damaged, or disappeared while it was in use. Adapters
 * write it into the state that takes the lost one's place, and nobody removes it.
 */
export const STATE_LOST = "state-lost";

/** What is kept under that key. */
export interface StateLoss {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly why: string;
}
