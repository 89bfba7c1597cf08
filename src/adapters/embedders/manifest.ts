/** Embedders by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const embedders = {
  static: () => import("./static.ts"),
  tuned: () => import("./tuned.ts"),
  cached: () => import("./cached.ts"),
};
