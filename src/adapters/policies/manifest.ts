/** Policies by name, each loaded on first use. A new policy is one line here; see CONTRIBUTING.md. */
export const policies = {
  patterns: () => import("./patterns.ts"),
  rules: () => import("./rules/rules.ts"),
  cedar: () => import("./cedar/cedar.ts"),
};
