/** Audit logs by name, each loaded on first use. A new audit log is one line here; see CONTRIBUTING.md. */
export const auditLogs = {
  file: () => import("./file/file.ts"),
  memory: () => import("./memory.ts"),
  postgres: () => import("./postgres.ts"),
};
