import { sumFloats, sumIntegers } from "./math";

// Both searches score `count` rows: row i, or row selection[i] where `selection` is not 0. `width` is a multiple of 16.

// @ts-ignore: decorator
@inline
function rowAt(selection: usize, i: i32): usize {
  return selection == 0 ? <usize>i : <usize>load<u32>(selection + <usize>i * 4);
}

/** scores[i] = query . row, all float32. */
export function scoreFloatRows(
  query: usize, rows: usize, width: i32, selection: usize, count: i32, scores: usize,
): void {
  const bytes: usize = <usize>width * 4;
  const end = query + bytes;
  for (let i = 0; i < count; i++) {
    let row: usize = rows + rowAt(selection, i) * bytes;
    let q = query;
    let s0 = f32x4.splat(0), s1 = f32x4.splat(0), s2 = f32x4.splat(0), s3 = f32x4.splat(0);
    while (q < end) {
      s0 = f32x4.add(s0, f32x4.mul(v128.load(q, 0), v128.load(row, 0)));
      s1 = f32x4.add(s1, f32x4.mul(v128.load(q, 16), v128.load(row, 16)));
      s2 = f32x4.add(s2, f32x4.mul(v128.load(q, 32), v128.load(row, 32)));
      s3 = f32x4.add(s3, f32x4.mul(v128.load(q, 48), v128.load(row, 48)));
      q += 64; row += 64;
    }
    store<f32>(scores + <usize>i * 4, sumFloats(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3))));
  }
}

/** scores[i] = query . row * scale[row] * factor: int16 query with scale `factor`, int8 rows with one float scale each. */
export function scoreByteRows(
  query: usize, factor: f32, rows: usize, scales: usize, width: i32, selection: usize, count: i32, scores: usize,
): void {
  const end: usize = query + <usize>width * 2;
  let i = 0;
  // Four rows at a time share the loads of the query.
  for (; i + 4 <= count; i += 4) {
    const i0 = rowAt(selection, i), i1 = rowAt(selection, i + 1), i2 = rowAt(selection, i + 2), i3 = rowAt(selection, i + 3);
    let r0: usize = rows + i0 * width, r1: usize = rows + i1 * width, r2: usize = rows + i2 * width, r3: usize = rows + i3 * width;
    let q = query;
    let s0 = i32x4.splat(0), s1 = i32x4.splat(0), s2 = i32x4.splat(0), s3 = i32x4.splat(0);
    while (q < end) {
      let part = v128.load(q, 0);
      s0 = i32x4.add(s0, i32x4.dot_i16x8_s(part, v128.load8x8_s(r0, 0)));
      s1 = i32x4.add(s1, i32x4.dot_i16x8_s(part, v128.load8x8_s(r1, 0)));
      s2 = i32x4.add(s2, i32x4.dot_i16x8_s(part, v128.load8x8_s(r2, 0)));
      s3 = i32x4.add(s3, i32x4.dot_i16x8_s(part, v128.load8x8_s(r3, 0)));
      part = v128.load(q, 16);
      s0 = i32x4.add(s0, i32x4.dot_i16x8_s(part, v128.load8x8_s(r0, 8)));
      s1 = i32x4.add(s1, i32x4.dot_i16x8_s(part, v128.load8x8_s(r1, 8)));
      s2 = i32x4.add(s2, i32x4.dot_i16x8_s(part, v128.load8x8_s(r2, 8)));
      s3 = i32x4.add(s3, i32x4.dot_i16x8_s(part, v128.load8x8_s(r3, 8)));
      q += 32; r0 += 16; r1 += 16; r2 += 16; r3 += 16;
    }
    const out: usize = scores + <usize>i * 4;
    store<f32>(out, <f32>sumIntegers(s0) * (load<f32>(scales + i0 * 4) * factor), 0);
    store<f32>(out, <f32>sumIntegers(s1) * (load<f32>(scales + i1 * 4) * factor), 4);
    store<f32>(out, <f32>sumIntegers(s2) * (load<f32>(scales + i2 * 4) * factor), 8);
    store<f32>(out, <f32>sumIntegers(s3) * (load<f32>(scales + i3 * 4) * factor), 12);
  }
  for (; i < count; i++) {
    const index = rowAt(selection, i);
    let row: usize = rows + index * width;
    let sum = i32x4.splat(0);
    for (let q = query; q < end; q += 16) {
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(q), v128.load8x8_s(row)));
      row += 8;
    }
    store<f32>(scores + <usize>i * 4, <f32>sumIntegers(sum) * (load<f32>(scales + index * 4) * factor));
  }
}
