/** Policies by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const policies = {
  patterns: () => import("./patterns.ts"),
  rules: () => import("./rules/rules.ts"),
  cedar: () => import("./cedar/cedar.ts"),
};
