import { finish } from "./matmul";

/**
 * Rearranges an int8 matrix [n][k] (one row an output) into panels of eight outputs, four inputs at a time, and writes each output's sum of
 * weights, which takes the zero points of the rows off again.
 */
export function packByteWeights(source: usize, n: i32, k: i32, target: usize, sums: usize): void {
  for (let panel = 0; panel < n; panel += 8) {
    const base: usize = source + <usize>(panel * k);
    for (let i = 0; i < k; i += 4) {
      for (let output = 0; output < 8; output++) {
        store<u32>(target, load<u32>(base + <usize>(output * k + i)));
        target += 4;
      }
    }
  }
  for (let output = 0; output < n; output++) {
    let sum = 0;
    for (let i = 0; i < k; i++) sum += load<i8>(source + <usize>(output * k + i));
    store<i32>(sums + <usize>output * 4, sum);
  }
}

/**
 * Splits int16 rows into bytes, which are the numbers plus the row's zero point, and the few wide channels. A wide channel may hold any int16, so its
 * byte is the zero point and its number goes to `wide`, which has `wideCount` int16 a row.
 */
export function splitRows(
  rows: usize, zeros: usize, count: i32, width: i32, channels: usize, wideCount: i32, bytes: usize, wide: usize,
): void {
  for (let row = 0; row < count; row++) {
    const number = load<i32>(zeros + <usize>row * 4);
    const zero = i16x8.splat(<i16>number);
    for (let i: usize = 0; i < <usize>width; i += 16) {
      const low = i16x8.add(v128.load(rows + i * 2, 0), zero);
      const high = i16x8.add(v128.load(rows + i * 2, 16), zero);
      v128.store(bytes + i, i8x16.narrow_i16x8_u(low, high));
    }
    for (let at = 0; at < wideCount; at++) {
      const channel = <usize>load<i32>(channels + <usize>at * 4);
      store<u8>(bytes + channel, <u8>number);
      store<i16>(wide, load<i16>(rows + channel * 2));
      wide += 2;
    }
    rows += <usize>width * 2;
    bytes += <usize>width;
  }
}

/**
 * `multiply` for rows that `splitRows` split: the same result, bit for bit, with 8-bit dot products. `wideWeights` are the packed weights of the wide
 * channels, whose count is a multiple of 4, or 0.
 */
export function multiplyBytes(
  bytes: usize, zeros: usize, rowScales: usize, m: i32, k: i32, wide: usize, wideCount: i32,
  weights: usize, wideWeights: usize, sums: usize, scales: usize, bias: usize, n: i32,
  activate: bool, residual: usize, out: usize,
): void {
  const rowBytes: usize = <usize>k;
  const wideBytes: usize = <usize>wideCount * 2;
  const outBytes: usize = <usize>n * 4;
  for (let column = 0; column < n; column += 8) {
    const panel: usize = weights + <usize>(column * k);
    const widePanel: usize = wideWeights + <usize>(column * wideCount);
    const columnBytes: usize = <usize>column * 4;
    const sum0 = v128.load(sums + columnBytes, 0), sum1 = v128.load(sums + columnBytes, 16);
    for (let row = 0; row < m; row += 4) {
      let w = panel;
      let a0: usize = bytes + <usize>row * rowBytes;
      let a1: usize = a0 + rowBytes;
      let a2: usize = a1 + rowBytes;
      let a3: usize = a2 + rowBytes;
      const end = a1;
      const zero: usize = zeros + <usize>row * 4;
      let z = i32x4.neg(v128.load32_splat(zero, 0));
      let s00 = i32x4.mul(z, sum0), s01 = i32x4.mul(z, sum1);
      z = i32x4.neg(v128.load32_splat(zero, 4));
      let s10 = i32x4.mul(z, sum0), s11 = i32x4.mul(z, sum1);
      z = i32x4.neg(v128.load32_splat(zero, 8));
      let s20 = i32x4.mul(z, sum0), s21 = i32x4.mul(z, sum1);
      z = i32x4.neg(v128.load32_splat(zero, 12));
      let s30 = i32x4.mul(z, sum0), s31 = i32x4.mul(z, sum1);
      while (a0 < end) {
        let w0 = v128.load(w, 0);
        let w1 = v128.load(w, 16);
        let a = v128.load32_splat(a0, 0);
        s00 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s00);
        s01 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s01);
        a = v128.load32_splat(a1, 0);
        s10 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s10);
        s11 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s11);
        a = v128.load32_splat(a2, 0);
        s20 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s20);
        s21 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s21);
        a = v128.load32_splat(a3, 0);
        s30 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s30);
        s31 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s31);
        w0 = v128.load(w, 32);
        w1 = v128.load(w, 48);
        a = v128.load32_splat(a0, 4);
        s00 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s00);
        s01 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s01);
        a = v128.load32_splat(a1, 4);
        s10 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s10);
        s11 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s11);
        a = v128.load32_splat(a2, 4);
        s20 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s20);
        s21 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s21);
        a = v128.load32_splat(a3, 4);
        s30 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w0, a, s30);
        s31 = i32x4.relaxed_dot_i8x16_i7x16_add_s(w1, a, s31);
        a0 += 8; a1 += 8; a2 += 8; a3 += 8;
        w += 64;
      }
      w = widePanel;
      let b0: usize = wide + <usize>row * wideBytes;
      const wideEnd = b0 + wideBytes;
      while (b0 < wideEnd) {
        const w0 = v128.load8x8_s(w, 0);
        const w1 = v128.load8x8_s(w, 8);
        let a = v128.load32_splat(b0);
        s00 = i32x4.add(s00, i32x4.dot_i16x8_s(a, w0));
        s01 = i32x4.add(s01, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(b0 + wideBytes);
        s10 = i32x4.add(s10, i32x4.dot_i16x8_s(a, w0));
        s11 = i32x4.add(s11, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(b0 + 2 * wideBytes);
        s20 = i32x4.add(s20, i32x4.dot_i16x8_s(a, w0));
        s21 = i32x4.add(s21, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(b0 + 3 * wideBytes);
        s30 = i32x4.add(s30, i32x4.dot_i16x8_s(a, w0));
        s31 = i32x4.add(s31, i32x4.dot_i16x8_s(a, w1));
        b0 += 4;
        w += 16;
      }
      const scale0 = v128.load(scales + columnBytes, 0), scale1 = v128.load(scales + columnBytes, 16);
      const bias0 = v128.load(bias + columnBytes, 0), bias1 = v128.load(bias + columnBytes, 16);
      const rowScale: usize = rowScales + <usize>row * 4;
      const offset: usize = <usize>row * outBytes + columnBytes;
      let o: usize = out + offset;
      let r: usize = residual == 0 ? 0 : residual + offset;
      const step: usize = residual == 0 ? 0 : outBytes;
      const half: usize = residual == 0 ? 0 : 16;
      let factor = v128.load32_splat(rowScale, 0);
      finish(s00, factor, scale0, bias0, activate, r, o);
      finish(s01, factor, scale1, bias1, activate, r + half, o + 16);
      o += outBytes; r += step;
      factor = v128.load32_splat(rowScale, 4);
      finish(s10, factor, scale0, bias0, activate, r, o);
      finish(s11, factor, scale1, bias1, activate, r + half, o + 16);
      o += outBytes; r += step;
      factor = v128.load32_splat(rowScale, 8);
      finish(s20, factor, scale0, bias0, activate, r, o);
      finish(s21, factor, scale1, bias1, activate, r + half, o + 16);
      o += outBytes; r += step;
      factor = v128.load32_splat(rowScale, 12);
      finish(s30, factor, scale0, bias0, activate, r, o);
      finish(s31, factor, scale1, bias1, activate, r + half, o + 16);
    }
  }
}
