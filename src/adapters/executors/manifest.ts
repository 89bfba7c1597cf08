/** Executors by name, each loaded on first use. A new executor is one line here; see CONTRIBUTING.md. */
export const executors = {
  direct: () => import("./direct.ts"),
  sandboxed: () => import("./sandboxed.ts"),
};
