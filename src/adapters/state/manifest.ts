/** State stores by name, each loaded on first use. A new state is one line here; see CONTRIBUTING.md. */
export const states = {
  memory: () => import("./memory.ts"),
  redis: () => import("./redis.ts"),
  postgres: () => import("./postgres.ts"),
  sqlite: () => import("./sqlite.ts"),
};
