import { sumFloats } from "./math";

/** out[t] = table[ids[t]] * scales[ids[t]] + positions[t]: the embeddings of one text, which starts at position 0. */
export function embedTokens(
  ids: usize, length: i32, width: i32, table: usize, scales: usize, positions: usize, out: usize,
): void {
  for (let t = 0; t < length; t++) {
    const id = load<i32>(ids + <usize>t * 4);
    const scale = v128.load32_splat(scales + <usize>id * 4);
    let source: usize = table + <usize>id * width;
    const end = source + width;
    while (source < end) {
      const wide = v128.load8x8_s(source);
      const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(wide));
      const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(wide));
      v128.store(out, f32x4.add(f32x4.mul(low, scale), v128.load(positions, 0)), 0);
      v128.store(out, f32x4.add(f32x4.mul(high, scale), v128.load(positions, 16)), 16);
      source += 8; positions += 32; out += 32;
    }
  }
}

/** LayerNorm of each row, in place. */
export function normaliseRows(rows: usize, count: i32, width: i32, weight: usize, bias: usize, epsilon: f32): void {
  const bytes: usize = <usize>width * 4;
  const inverse: f32 = 1.0 / <f32>width;
  for (let row = 0; row < count; row++) {
    let sum = f32x4.splat(0);
    for (let i: usize = 0; i < bytes; i += 16) sum = f32x4.add(sum, v128.load(rows + i));
    const mean = f32x4.splat(sumFloats(sum) * inverse);
    let squares = f32x4.splat(0);
    for (let i: usize = 0; i < bytes; i += 16) {
      const difference = f32x4.sub(v128.load(rows + i), mean);
      squares = f32x4.add(squares, f32x4.mul(difference, difference));
    }
    const factor = f32x4.splat(<f32>1.0 / sqrt<f32>(sumFloats(squares) * inverse + epsilon));
    for (let i: usize = 0; i < bytes; i += 16) {
      const unit = f32x4.mul(f32x4.sub(v128.load(rows + i), mean), factor);
      v128.store(rows + i, f32x4.add(f32x4.mul(unit, v128.load(weight + i)), v128.load(bias + i)));
    }
    rows += bytes;
  }
}

/** Each float row as int16 in [-limit, limit] with its scale. The host chooses a limit whose sums of products cannot leave 32 bits. */
export function quantiseRows(rows: usize, count: i32, width: i32, limit: f32, out: usize, scales: usize): void {
  const bytes: usize = <usize>width * 4;
  const magic = f32x4.splat(12582912.0);
  const magicBits = i32x4.splat(0x4b400000);
  for (let row = 0; row < count; row++) {
    let largest = f32x4.splat(0);
    for (let i: usize = 0; i < bytes; i += 16) largest = f32x4.pmax(largest, f32x4.abs(v128.load(rows + i)));
    const top: f32 = max<f32>(
      max<f32>(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
      max<f32>(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
    );
    store<f32>(scales, top / limit);
    const factor = f32x4.splat(top > 0 ? limit / top : 0);
    for (let i: usize = 0; i < bytes; i += 32) {
      // Adding 1.5 * 2^23 rounds to nearest even; the integer is what the bits exceed the constant's by.
      const low = i32x4.sub(f32x4.add(f32x4.mul(v128.load(rows + i, 0), factor), magic), magicBits);
      const high = i32x4.sub(f32x4.add(f32x4.mul(v128.load(rows + i, 16), factor), magic), magicBits);
      v128.store(out, i16x8.narrow_i32x4_s(low, high));
      out += 16;
    }
    rows += bytes;
    scales += 4;
  }
}

/**
 * Each float row as integers: those of the channels in `mask` span at most 127 steps from -zero to 127 - zero, so that they fit into 7 bits with the
 * zero point added. Channels outside of the mask may be any int16.
 */
export function roundRows(
  rows: usize, count: i32, width: i32, mask: usize, out: usize, scales: usize, zeros: usize,
): void {
  const bytes: usize = <usize>width * 4;
  const magic = f32x4.splat(12582912.0);
  const magicBits = i32x4.splat(0x4b400000);
  const most = f32x4.splat(32767.0);
  const least = f32x4.splat(-32767.0);
  for (let row = 0; row < count; row++) {
    let lowest = f32x4.splat(0);
    let highest = f32x4.splat(0);
    for (let i: usize = 0; i < bytes; i += 16) {
      const value = v128.and(v128.load(rows + i), v128.load(mask + i));
      lowest = f32x4.pmin(lowest, value);
      highest = f32x4.pmax(highest, value);
    }
    const bottom: f32 = min<f32>(
      min<f32>(f32x4.extract_lane(lowest, 0), f32x4.extract_lane(lowest, 1)),
      min<f32>(f32x4.extract_lane(lowest, 2), f32x4.extract_lane(lowest, 3)),
    );
    const top: f32 = max<f32>(
      max<f32>(f32x4.extract_lane(highest, 0), f32x4.extract_lane(highest, 1)),
      max<f32>(f32x4.extract_lane(highest, 2), f32x4.extract_lane(highest, 3)),
    );
    const range: f32 = top - bottom;
    const steps: f32 = range > 0 ? <f32>126.0 / range : 0;
    store<f32>(scales, range / <f32>126.0);
    store<i32>(zeros, -<i32>nearest<f32>(bottom * steps));
    const factor = f32x4.splat(steps);
    for (let i: usize = 0; i < bytes; i += 32) {
      const a = f32x4.pmax(least, f32x4.pmin(most, f32x4.mul(v128.load(rows + i, 0), factor)));
      const b = f32x4.pmax(least, f32x4.pmin(most, f32x4.mul(v128.load(rows + i, 16), factor)));
      const low = i32x4.sub(f32x4.add(a, magic), magicBits);
      const high = i32x4.sub(f32x4.add(b, magic), magicBits);
      v128.store(out, i16x8.narrow_i32x4_s(low, high));
      out += 16;
    }
    rows += bytes;
    scales += 4;
    zeros += 4;
  }
}

/**
 * The rows together as ONNX's DynamicQuantizeLinear has them: one 8-bit scale and zero point for all, the zero point taken off again.
 * Coarser than `quantiseRows`; it makes the encoder reproduce onnxruntime's int8 graphs.
 */
export function quantiseTogether(rows: usize, count: i32, width: i32, out: usize, scales: usize): void {
  const end: usize = rows + <usize>(count * width) * 4;
  let lowest = f32x4.splat(0);
  let highest = f32x4.splat(0);
  for (let at = rows; at < end; at += 16) {
    lowest = f32x4.pmin(lowest, v128.load(at));
    highest = f32x4.pmax(highest, v128.load(at));
  }
  const bottom: f32 = min<f32>(
    min<f32>(f32x4.extract_lane(lowest, 0), f32x4.extract_lane(lowest, 1)),
    min<f32>(f32x4.extract_lane(lowest, 2), f32x4.extract_lane(lowest, 3)),
  );
  const top: f32 = max<f32>(
    max<f32>(f32x4.extract_lane(highest, 0), f32x4.extract_lane(highest, 1)),
    max<f32>(f32x4.extract_lane(highest, 2), f32x4.extract_lane(highest, 3)),
  );
  const scale: f32 = top > bottom ? (top - bottom) / 255.0 : 1.0;
  const zero: f32 = nearest<f32>(-bottom / scale);
  for (let row = 0; row < count; row++) store<f32>(scales + <usize>row * 4, scale);
  const divisor = f32x4.splat(scale);
  const least = f32x4.splat(-zero);
  const most = f32x4.splat(<f32>255.0 - zero);
  const magic = f32x4.splat(12582912.0);
  const magicBits = i32x4.splat(0x4b400000);
  for (let at = rows; at < end; at += 32) {
    const a = f32x4.pmax(least, f32x4.pmin(most, f32x4.nearest(f32x4.div(v128.load(at, 0), divisor))));
    const b = f32x4.pmax(least, f32x4.pmin(most, f32x4.nearest(f32x4.div(v128.load(at, 16), divisor))));
    const low = i32x4.sub(f32x4.add(a, magic), magicBits);
    const high = i32x4.sub(f32x4.add(b, magic), magicBits);
    v128.store(out, i16x8.narrow_i32x4_s(low, high));
    out += 16;
  }
}

/** The mean of the rows, scaled to length one. */
export function poolRows(rows: usize, count: i32, width: i32, out: usize): void {
  const bytes: usize = <usize>width * 4;
  let squares = f32x4.splat(0);
  const inverse = f32x4.splat(<f32>1.0 / <f32>count);
  for (let i: usize = 0; i < bytes; i += 16) {
    let sum = f32x4.splat(0);
    let at = rows + i;
    for (let row = 0; row < count; row++) {
      sum = f32x4.add(sum, v128.load(at));
      at += bytes;
    }
    const mean = f32x4.mul(sum, inverse);
    squares = f32x4.add(squares, f32x4.mul(mean, mean));
    v128.store(out + i, mean);
  }
  const length = sqrt<f32>(sumFloats(squares));
  const factor = f32x4.splat(length > 0 ? <f32>1.0 / length : 0);
  for (let i: usize = 0; i < bytes; i += 16) v128.store(out + i, f32x4.mul(v128.load(out + i), factor));
}
