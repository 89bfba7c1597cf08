// Four-lane float functions that WebAssembly lacks, and horizontal sums.

// The constants are loaded from memory: written as literals, V8 builds each anew with several instructions wherever it is used.
const CONSTANTS: usize = memory.data<f32>([
  -87.0, 1.44269504088896341, 12582912.0, 0.693359375, -2.12194440e-4,
  1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1.0,
  -4.0, 4.0, 0.70710678118654752, 0.5,
  -2.72614225801306e-10, 2.77068142495902e-8, -2.10102402082508e-6, -5.69250639462346e-5, -7.34990630326855e-4,
  -2.95459980854025e-3, -1.60960333262415e-2,
  -1.45660718464996e-5, -2.13374055278905e-4, -1.68282697438203e-3, -7.37332916720468e-3, -1.42647390514189e-2,
], 16);

// @ts-ignore: decorator
@inline
function constant(index: usize): v128 {
  return v128.load32_splat(CONSTANTS + index * 4);
}

/** One step of Horner's rule. */
// @ts-ignore: decorator
@inline
function step(sum: v128, x: v128, index: usize): v128 {
  return f32x4.add(f32x4.mul(sum, x), constant(index));
}

/** e^x for x <= 0 and down to -87, within 2 ulp: 2^n times a polynomial on the remainder. */
// @ts-ignore: decorator
@inline
export function exponential(x: v128): v128 {
  const clamped = f32x4.pmax(x, constant(0));
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low mantissa bits, ready to become an exponent.
  const shifted = f32x4.add(f32x4.mul(clamped, constant(1)), constant(2));
  const n = f32x4.sub(shifted, constant(2));
  const r = f32x4.sub(f32x4.sub(clamped, f32x4.mul(n, constant(3))), f32x4.mul(n, constant(4)));
  let p = step(constant(5), r, 6);
  p = step(p, r, 7);
  p = step(p, r, 8);
  p = step(p, r, 9);
  p = step(p, r, 10);
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(r, r)), r), constant(11));
  // The bits of 1.0 are 127 << 23, the exponent's bias.
  return f32x4.mul(p, i32x4.add(i32x4.shl(shifted, 23), constant(11)));
}

/** GELU with the error function itself (not the tanh form), erf as a rational function on [-4, 4]: absolute error below 1e-6. */
// @ts-ignore: decorator
@inline
export function gelu(x: v128): v128 {
  const z = f32x4.pmax(constant(12), f32x4.pmin(constant(13), f32x4.mul(x, constant(14))));
  const s = f32x4.mul(z, z);
  let p = step(constant(16), s, 17);
  p = step(p, s, 18);
  p = step(p, s, 19);
  p = step(p, s, 20);
  p = step(p, s, 21);
  p = step(p, s, 22);
  let q = step(constant(23), s, 24);
  q = step(q, s, 25);
  q = step(q, s, 26);
  q = step(q, s, 27);
  const erf = f32x4.div(f32x4.mul(z, p), q);
  return f32x4.mul(f32x4.mul(x, constant(15)), f32x4.add(erf, constant(11)));
}

// @ts-ignore: decorator
@inline
export function sumFloats(x: v128): f32 {
  return (
    f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3))
  );
}

// @ts-ignore: decorator
@inline
export function sumIntegers(x: v128): i32 {
  return i32x4.extract_lane(x, 0) + i32x4.extract_lane(x, 1) + i32x4.extract_lane(x, 2) + i32x4.extract_lane(x, 3);
}
