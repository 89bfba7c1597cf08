import { gelu } from "./math";

/**
 * Rearranges an int8 matrix [n][k] (one row an output) into panels of eight outputs, two inputs at a time:
 * o0i0 o0i1 o1i0 o1i1 ... o7i0 o7i1, o0i2 o0i3 ... so that `multiply` reads weights strictly forward.
 */
export function packWeights(source: usize, n: i32, k: i32, target: usize): void {
  for (let panel = 0; panel < n; panel += 8) {
    const base: usize = source + <usize>(panel * k);
    for (let i = 0; i < k; i += 2) {
      for (let output = 0; output < 8; output++) {
        store<u16>(target, load<u16>(base + <usize>(output * k + i)));
        target += 2;
      }
    }
  }
}

// @ts-ignore: decorator
@inline
export function finish(sum: v128, rowScale: v128, scale: v128, bias: v128, activate: bool, residual: usize, out: usize): void {
  let value = f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(sum), f32x4.mul(rowScale, scale)), bias);
  if (activate) value = gelu(value);
  if (residual != 0) value = f32x4.add(value, v128.load(residual));
  v128.store(out, value);
}

/**
 * out[m][n] = rows[m][k] * weights + bias, then GELU where `activate`, then + residual[m][n] where it is not 0.
 *
 * Rows are int16 with one float scale a row, weights packed int8 with one float scale an output. Four rows by eight outputs are kept in
 * registers; a panel of weights stays in the first-level cache while all rows pass over it. m is rounded up to four: the host gives
 * every buffer that much slack. k is a multiple of 4, n of 8.
 */
export function multiply(
  rows: usize, rowScales: usize, m: i32, k: i32,
  weights: usize, scales: usize, bias: usize, n: i32,
  activate: bool, residual: usize, out: usize,
): void {
  const rowBytes: usize = <usize>k * 2;
  const outBytes: usize = <usize>n * 4;
  for (let column = 0; column < n; column += 8) {
    const panel: usize = weights + <usize>(column * k);
    for (let row = 0; row < m; row += 4) {
      let w = panel;
      let a0: usize = rows + <usize>row * rowBytes;
      let a1: usize = a0 + rowBytes;
      let a2: usize = a1 + rowBytes;
      let a3: usize = a2 + rowBytes;
      const end = a1;
      let s00 = i32x4.splat(0), s01 = i32x4.splat(0);
      let s10 = i32x4.splat(0), s11 = i32x4.splat(0);
      let s20 = i32x4.splat(0), s21 = i32x4.splat(0);
      let s30 = i32x4.splat(0), s31 = i32x4.splat(0);
      while (a0 < end) {
        let w0 = v128.load8x8_s(w, 0);
        let w1 = v128.load8x8_s(w, 8);
        let a = v128.load32_splat(a0, 0);
        s00 = i32x4.add(s00, i32x4.dot_i16x8_s(a, w0));
        s01 = i32x4.add(s01, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(a1, 0);
        s10 = i32x4.add(s10, i32x4.dot_i16x8_s(a, w0));
        s11 = i32x4.add(s11, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(a2, 0);
        s20 = i32x4.add(s20, i32x4.dot_i16x8_s(a, w0));
        s21 = i32x4.add(s21, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(a3, 0);
        s30 = i32x4.add(s30, i32x4.dot_i16x8_s(a, w0));
        s31 = i32x4.add(s31, i32x4.dot_i16x8_s(a, w1));
        w0 = v128.load8x8_s(w, 16);
        w1 = v128.load8x8_s(w, 24);
        a = v128.load32_splat(a0, 4);
        s00 = i32x4.add(s00, i32x4.dot_i16x8_s(a, w0));
        s01 = i32x4.add(s01, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(a1, 4);
        s10 = i32x4.add(s10, i32x4.dot_i16x8_s(a, w0));
        s11 = i32x4.add(s11, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(a2, 4);
        s20 = i32x4.add(s20, i32x4.dot_i16x8_s(a, w0));
        s21 = i32x4.add(s21, i32x4.dot_i16x8_s(a, w1));
        a = v128.load32_splat(a3, 4);
        s30 = i32x4.add(s30, i32x4.dot_i16x8_s(a, w0));
        s31 = i32x4.add(s31, i32x4.dot_i16x8_s(a, w1));
        a0 += 8; a1 += 8; a2 += 8; a3 += 8;
        w += 32;
      }
      const columnBytes: usize = <usize>column * 4;
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
