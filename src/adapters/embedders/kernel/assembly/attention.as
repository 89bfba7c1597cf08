import { exponential, sumFloats } from "./math";

/**
 * Self-attention of one text: `qkv` holds `length` rows of query, key and value side by side (each `heads * size` floats, the query
 * already divided by the root of `size`), `out` receives `length` rows of `heads * size` floats.
 *
 * Four queries at a time, so that their scores stay in the first-level cache between score, softmax and sum. Up to three rows behind the
 * text are read and written too: texts are processed in order, so each overwrites what its predecessor spilled, and the host leaves slack
 * behind the last. `scratch` needs (2 * size + 4) * (length rounded up to 8) floats. `size` is a multiple of 8.
 */
export function attend(qkv: usize, length: i32, heads: i32, size: i32, scratch: usize, out: usize): void {
  const padded = (length + 7) & ~7;
  const paddedBytes: usize = <usize>padded * 4;
  const width = heads * size;
  const outBytes: usize = <usize>width * 4;
  const rowBytes: usize = outBytes * 3;
  const sizeBytes: usize = <usize>size * 4;
  const keys = scratch;
  const values = keys + <usize>size * paddedBytes;
  const scores = values + <usize>padded * sizeBytes;
  for (let head = 0; head < heads; head++) {
    const first: usize = qkv + <usize>head * sizeBytes;
    gather(first + outBytes, first + 2 * outBytes, length, size, rowBytes, keys, paddedBytes, values);
    for (let query = 0; query < length; query += 4) {
      scoreFour(first + <usize>query * rowBytes, rowBytes, keys, size, padded, scores);
      const f0 = softmax(scores, length, padded);
      const f1 = softmax(scores + paddedBytes, length, padded);
      const f2 = softmax(scores + 2 * paddedBytes, length, padded);
      const f3 = softmax(scores + 3 * paddedBytes, length, padded);
      const target: usize = out + <usize>query * outBytes + <usize>head * sizeBytes;
      sumFour(scores, paddedBytes, values, length, size, target, outBytes, f0, f1, f2, f3);
    }
  }
}

/** Keys of one head as [size][padded], values as [length][size]: both are then read strictly forward. */
function gather(
  key: usize, value: usize, length: i32, size: i32, rowBytes: usize,
  keys: usize, paddedBytes: usize, values: usize,
): void {
  for (let t = 0; t < length; t++) {
    let column: usize = keys + <usize>t * 4;
    for (let d: usize = 0; d < <usize>size * 4; d += 16) {
      const four = v128.load(key + d);
      v128.store_lane<f32>(column, four, 0);
      v128.store_lane<f32>(column + paddedBytes, four, 1);
      v128.store_lane<f32>(column + 2 * paddedBytes, four, 2);
      v128.store_lane<f32>(column + 3 * paddedBytes, four, 3);
      column += 4 * paddedBytes;
      v128.store(values, v128.load(value + d));
      values += 16;
    }
    key += rowBytes;
    value += rowBytes;
  }
}

function scoreFour(query: usize, rowBytes: usize, keys: usize, size: i32, padded: i32, scores: usize): void {
  const paddedBytes: usize = <usize>padded * 4;
  const end: usize = query + <usize>size * 4;
  for (let column: usize = 0; column < paddedBytes; column += 32) {
    let q0 = query;
    let q1 = q0 + rowBytes;
    let q2 = q1 + rowBytes;
    let q3 = q2 + rowBytes;
    let key = keys + column;
    let s00 = f32x4.splat(0), s01 = f32x4.splat(0), s10 = f32x4.splat(0), s11 = f32x4.splat(0);
    let s20 = f32x4.splat(0), s21 = f32x4.splat(0), s30 = f32x4.splat(0), s31 = f32x4.splat(0);
    while (q0 < end) {
      const k0 = v128.load(key, 0), k1 = v128.load(key, 16);
      let q = v128.load32_splat(q0);
      s00 = f32x4.add(s00, f32x4.mul(q, k0));
      s01 = f32x4.add(s01, f32x4.mul(q, k1));
      q = v128.load32_splat(q1);
      s10 = f32x4.add(s10, f32x4.mul(q, k0));
      s11 = f32x4.add(s11, f32x4.mul(q, k1));
      q = v128.load32_splat(q2);
      s20 = f32x4.add(s20, f32x4.mul(q, k0));
      s21 = f32x4.add(s21, f32x4.mul(q, k1));
      q = v128.load32_splat(q3);
      s30 = f32x4.add(s30, f32x4.mul(q, k0));
      s31 = f32x4.add(s31, f32x4.mul(q, k1));
      key += paddedBytes;
      q0 += 4; q1 += 4; q2 += 4; q3 += 4;
    }
    let score = scores + column;
    v128.store(score, s00, 0);
    v128.store(score, s01, 16);
    score += paddedBytes;
    v128.store(score, s10, 0);
    v128.store(score, s11, 16);
    score += paddedBytes;
    v128.store(score, s20, 0);
    v128.store(score, s21, 16);
    score += paddedBytes;
    v128.store(score, s30, 0);
    v128.store(score, s31, 16);
  }
}

/** Exponentials of one row of scores, in place; returns the factor that makes them sum to one. */
function softmax(row: usize, length: i32, padded: i32): f32 {
  const bytes: usize = <usize>padded * 4;
  for (let t = length; t < padded; t++) store<f32>(row + <usize>t * 4, -1e30);
  let largest = v128.load(row);
  for (let i: usize = 16; i < bytes; i += 16) largest = f32x4.pmax(largest, v128.load(row + i));
  const top = f32x4.splat(max<f32>(
    max<f32>(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
    max<f32>(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
  ));
  let sum = f32x4.splat(0);
  for (let i: usize = 0; i < bytes; i += 16) {
    const e = exponential(f32x4.sub(v128.load(row + i), top));
    sum = f32x4.add(sum, e);
    v128.store(row + i, e);
  }
  return <f32>1.0 / sumFloats(sum);
}

function sumFour(
  scores: usize, paddedBytes: usize, values: usize, length: i32, size: i32, out: usize, outBytes: usize,
  f0: f32, f1: f32, f2: f32, f3: f32,
): void {
  const sizeBytes: usize = <usize>size * 4;
  const end: usize = scores + <usize>length * 4;
  for (let column: usize = 0; column < sizeBytes; column += 32) {
    let p0 = scores;
    let p1 = p0 + paddedBytes;
    let p2 = p1 + paddedBytes;
    let p3 = p2 + paddedBytes;
    let value = values + column;
    let s00 = f32x4.splat(0), s01 = f32x4.splat(0), s10 = f32x4.splat(0), s11 = f32x4.splat(0);
    let s20 = f32x4.splat(0), s21 = f32x4.splat(0), s30 = f32x4.splat(0), s31 = f32x4.splat(0);
    while (p0 < end) {
      const v0 = v128.load(value, 0), v1 = v128.load(value, 16);
      let p = v128.load32_splat(p0);
      s00 = f32x4.add(s00, f32x4.mul(p, v0));
      s01 = f32x4.add(s01, f32x4.mul(p, v1));
      p = v128.load32_splat(p1);
      s10 = f32x4.add(s10, f32x4.mul(p, v0));
      s11 = f32x4.add(s11, f32x4.mul(p, v1));
      p = v128.load32_splat(p2);
      s20 = f32x4.add(s20, f32x4.mul(p, v0));
      s21 = f32x4.add(s21, f32x4.mul(p, v1));
      p = v128.load32_splat(p3);
      s30 = f32x4.add(s30, f32x4.mul(p, v0));
      s31 = f32x4.add(s31, f32x4.mul(p, v1));
      value += sizeBytes;
      p0 += 4; p1 += 4; p2 += 4; p3 += 4;
    }
    let o = out + column;
    v128.store(o, f32x4.mul(s00, f32x4.splat(f0)), 0);
    v128.store(o, f32x4.mul(s01, f32x4.splat(f0)), 16);
    o += outBytes;
    v128.store(o, f32x4.mul(s10, f32x4.splat(f1)), 0);
    v128.store(o, f32x4.mul(s11, f32x4.splat(f1)), 16);
    o += outBytes;
    v128.store(o, f32x4.mul(s20, f32x4.splat(f2)), 0);
    v128.store(o, f32x4.mul(s21, f32x4.splat(f2)), 16);
    o += outBytes;
    v128.store(o, f32x4.mul(s30, f32x4.splat(f3)), 0);
    v128.store(o, f32x4.mul(s31, f32x4.splat(f3)), 16);
  }
}
