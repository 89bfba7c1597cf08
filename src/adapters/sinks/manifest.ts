/** Sinks by name, each loaded on first use. A new sink is one line here; see CONTRIBUTING.md. */
export const sinks = {
  console: () => import("./console.ts"),
  datadog: () => import("./datadog.ts"),
  opentelemetry: () => import("./opentelemetry/opentelemetry.ts"),
};
