/** Catalog engines by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const stores = {
  memory: () => import("./memory.ts"),
  "memory-vectors": () => import("./memory-vectors.ts"),
  "simd-vectors": () => import("./simd-vectors.ts"),
};
