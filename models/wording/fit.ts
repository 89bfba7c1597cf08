import { BUCKETS } from "../../src/adapters/scanners/wording/features.ts";

/** One window of a text. */
export interface TrainingWindow {
  readonly buckets: Int32Array;
  readonly norm: number;
  readonly malicious: boolean;
  readonly weight: number;
}

/** Weights by bucket, and a bias. */
export interface Fitted {
  readonly weights: Float64Array;
  readonly bias: number;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

/** Adds `factor` times `b` to `a`, in place. */
function add(a: Float64Array, factor: number, b: Float64Array): void {
  for (let index = 0; index < a.length; index++) a[index] = (a[index] as number) + factor * (b[index] as number);
}

/** Minimises by L-BFGS with backtracking, from zero. `evaluate` returns the loss and overwrites its gradient. */
function minimise(size: number, evaluate: (at: Float64Array, gradient: Float64Array) => number): Float64Array {
  let at = new Float64Array(size);
  let gradient = new Float64Array(size);
  let loss = evaluate(at, gradient);
  const steps: { readonly moved: Float64Array; readonly turned: Float64Array; readonly rho: number }[] = [];
  for (let iteration = 0; iteration < 150; iteration++) {
    const direction = gradient.slice();
    const alphas: number[] = [];
    for (const { moved, turned, rho } of steps.toReversed()) {
      const alpha = rho * dot(moved, direction);
      alphas.push(alpha);
      add(direction, -alpha, turned);
    }
    const last = steps.at(-1);
    const shrink = last ? 1 / (last.rho * dot(last.turned, last.turned)) : 1 / Math.sqrt(dot(gradient, gradient));
    for (let index = 0; index < size; index++) direction[index] = -(direction[index] as number) * shrink;
    for (const { moved, turned, rho } of steps) add(direction, -(alphas.pop() ?? 0) - rho * dot(turned, direction), moved);
    const descent = dot(gradient, direction);
    let length = 1;
    for (;;) {
      const next = at.slice();
      add(next, length, direction);
      const nextGradient = new Float64Array(size);
      const nextLoss = evaluate(next, nextGradient);
      if (nextLoss > loss + 1e-4 * length * descent && length > 1e-10) {
        length /= 2;
        continue;
      }
      const moved = next.slice();
      add(moved, -1, at);
      const turned = nextGradient.slice();
      add(turned, -1, gradient);
      const curvature = dot(moved, turned);
      if (curvature > 1e-12) steps.push({ moved, turned, rho: 1 / curvature });
      if (steps.length > 8) steps.shift();
      const gain = (loss - nextLoss) / loss;
      [at, gradient, loss] = [next, nextGradient, nextLoss];
      if (gain < 1e-5) return at;
      break;
    }
  }
  return at;
}

/** Fits a logistic regression with L2, its features scaled by naive-Bayes log-ratios. Only buckets seen in training are used. */
export function fit(rows: readonly TrainingWindow[], cost: number): Fitted {
  const places = new Int32Array(BUCKETS).fill(-1);
  const seen: number[] = [];
  const starts = new Int32Array(rows.length + 1);
  rows.forEach(({ buckets }, index) => (starts[index + 1] = (starts[index] as number) + buckets.length));
  const columns = new Int32Array(starts[rows.length] as number);
  rows.forEach(({ buckets }, index) => {
    for (let offset = 0; offset < buckets.length; offset++) {
      const bucket = buckets[offset] as number;
      if (places[bucket] === -1) places[bucket] = seen.push(bucket) - 1;
      columns[(starts[index] as number) + offset] = places[bucket] as number;
    }
  });
  const size = seen.length;

  const ALPHA = 0.3;
  const counts = [new Float64Array(size).fill(ALPHA), new Float64Array(size).fill(ALPHA)] as const;
  const totals = [0, 0];
  rows.forEach(({ malicious, weight }, index) => {
    const side = malicious ? 1 : 0;
    for (const column of new Set(columns.subarray(starts[index], starts[index + 1])))
      counts[side][column] = (counts[side][column] as number) + weight;
    totals[side] = (totals[side] as number) + weight;
  });
  const ratio = new Float64Array(size);
  for (let column = 0; column < size; column++)
    ratio[column] =
      Math.log((counts[1][column] as number) / (totals[1] as number)) -
      Math.log((counts[0][column] as number) / (totals[0] as number));

  // The last entry is the bias, which is not regularised.
  const scaled = new Float64Array(size);
  const solution = minimise(size + 1, (at, gradient) => {
    let loss = 0;
    for (let column = 0; column < size; column++) {
      const weight = at[column] as number;
      loss += 0.5 * weight * weight;
      scaled[column] = weight * (ratio[column] as number);
      gradient[column] = 0;
    }
    let slope = 0;
    for (let index = 0; index < rows.length; index++) {
      const { norm, malicious, weight } = rows[index] as TrainingWindow;
      const [start, end] = [starts[index] as number, starts[index + 1] as number];
      let sum = 0;
      for (let offset = start; offset < end; offset++) sum += scaled[columns[offset] as number] as number;
      sum = sum * norm + (at[size] as number);
      const signed = malicious ? sum : -sum;
      loss += cost * weight * (signed > 0 ? Math.log1p(Math.exp(-signed)) : Math.log1p(Math.exp(signed)) - signed);
      const error = cost * weight * (1 / (1 + Math.exp(-sum)) - (malicious ? 1 : 0));
      slope += error;
      const step = error * norm;
      for (let offset = start; offset < end; offset++) {
        const column = columns[offset] as number;
        gradient[column] = (gradient[column] as number) + step;
      }
    }
    for (let column = 0; column < size; column++)
      gradient[column] = (gradient[column] as number) * (ratio[column] as number) + (at[column] as number);
    gradient[size] = slope;
    return loss;
  });
  const weights = new Float64Array(BUCKETS);
  for (let column = 0; column < size; column++)
    weights[seen[column] as number] = (solution[column] as number) * (ratio[column] as number);
  return { weights, bias: solution[size] as number };
}
