// The kernel for engines with relaxed SIMD: index.as, and products with 8-bit dot products.
export * from "./index";
export { packByteWeights, splitRows, multiplyBytes } from "./bytes";
