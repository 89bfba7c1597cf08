// Four-lane float functions that WebAssembly lacks, and horizontal sums.

/** e^x for x <= 0 and down to -87, within 2 ulp: 2^n times a polynomial on the remainder. */
// @ts-ignore: decorator
@inline
export function exponential(x: v128): v128 {
  const clamped = f32x4.max(x, f32x4.splat(-87.0));
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low mantissa bits, ready to become an exponent.
  const shifted = f32x4.add(f32x4.mul(clamped, f32x4.splat(1.44269504088896341)), f32x4.splat(12582912.0));
  const n = f32x4.sub(shifted, f32x4.splat(12582912.0));
  let r = f32x4.sub(clamped, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(n, f32x4.splat(2.12194440e-4)));
  let p = f32x4.splat(1.9875691500e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(r, r)), r), f32x4.splat(1.0));
  const power = i32x4.add(i32x4.shl(shifted, 23), i32x4.splat(127 << 23));
  return f32x4.mul(p, power);
}

/** GELU with the error function itself (not the tanh form), erf as a rational function on [-4, 4]: absolute error below 5e-7. */
// @ts-ignore: decorator
@inline
export function gelu(x: v128): v128 {
  const z = f32x4.max(f32x4.splat(-4.0), f32x4.min(f32x4.splat(4.0), f32x4.mul(x, f32x4.splat(0.70710678118654752))));
  const s = f32x4.mul(z, z);
  let p = f32x4.splat(-2.72614225801306e-10);
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(2.77068142495902e-8));
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(-2.10102402082508e-6));
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(-5.69250639462346e-5));
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(-7.34990630326855e-4));
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(-2.95459980854025e-3));
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(-1.60960333262415e-2));
  let q = f32x4.splat(-1.45660718464996e-5);
  q = f32x4.add(f32x4.mul(q, s), f32x4.splat(-2.13374055278905e-4));
  q = f32x4.add(f32x4.mul(q, s), f32x4.splat(-1.68282697438203e-3));
  q = f32x4.add(f32x4.mul(q, s), f32x4.splat(-7.37332916720468e-3));
  q = f32x4.add(f32x4.mul(q, s), f32x4.splat(-1.42647390514189e-2));
  const erf = f32x4.div(f32x4.mul(z, p), q);
  return f32x4.mul(f32x4.mul(x, f32x4.splat(0.5)), f32x4.add(erf, f32x4.splat(1.0)));
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
