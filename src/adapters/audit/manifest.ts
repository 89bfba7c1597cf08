/** Audit logs by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const auditLogs = {
  file: () => import("./file/file.ts"),
  memory: () => import("./memory.ts"),
  postgres: () => import("./postgres.ts"),
};
