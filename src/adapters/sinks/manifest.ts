/** Sinks by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const sinks = {
  console: () => import("./console.ts"),
  datadog: () => import("./datadog.ts"),
  opentelemetry: () => import("./opentelemetry/opentelemetry.ts"),
};
