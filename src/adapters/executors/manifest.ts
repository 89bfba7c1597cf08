/** Executors by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const executors = {
  direct: () => import("./direct.ts"),
  sandboxed: () => import("./sandboxed.ts"),
};
