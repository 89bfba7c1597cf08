import { SHORTEST, WINDOWS, type TextFeatures } from "./features.ts";

/** The window of a text that is most like an attack. */
export interface TopWindow {
  /** Higher is more suspicious; 0 means even odds. */
  readonly score: number;
  /** Indexes of the window's tokens; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Yields every window of a text of `count` tokens. Windows overlap by half. A text shorter than a window is one window. */
export function* windowsOf(count: number): Generator<{ readonly from: number; readonly to: number }> {
  for (const length of WINDOWS) {
    for (let from = 0; from === 0 || from + length / 2 < count; from += length / 4)
      yield { from, to: Math.min(from + length, count) };
    if (count <= length) return;
  }
}

/** Scores every window and returns the highest. Returns undefined for a text without words. */
export function topWindow(
  { buckets, offsets }: TextFeatures,
  weights: Int8Array | Float64Array,
  { scale, bias }: { readonly scale: number; readonly bias: number },
): TopWindow | undefined {
  const count = offsets.length - 1;
  if (count === 0) return undefined;
  // The sum of a window is the difference of two prefix sums, so scoring all windows costs no more than reading the weights once.
  const sums = new Float64Array(count + 1);
  for (let token = 0; token < count; token++) {
    let sum = sums[token] ?? 0;
    for (let at = offsets[token] ?? 0; at < (offsets[token + 1] ?? 0); at++) sum += weights[buckets[at] ?? 0] ?? 0;
    sums[token + 1] = sum;
  }
  let top: TopWindow | undefined;
  for (const { from, to } of windowsOf(count)) {
    const sum = ((sums[to] ?? 0) - (sums[from] ?? 0)) * scale;
    const score = sum / Math.sqrt(Math.max(to - from, SHORTEST)) + bias;
    if (top === undefined || score > top.score) top = { score, from, to };
  }
  return top;
}
