import type { CreateSurface } from "./surface.ts";

/** Every surface of the host, in the order of the page at `/`. Add a line here for a new surface. */
export const SURFACES: Readonly<Record<string, () => Promise<CreateSurface>>> = {
  mcp: async () => (await import("./mcp/aggregate/surface.ts")).mcpSurface,
  "mcp-upstreams": async () => (await import("./mcp/transparent/surface.ts")).upstreamsSurface,
  "mcp-toolsets": async () => (await import("./mcp/toolsets/surface.ts")).toolsetsSurface,
  rest: async () => (await import("./rest/surface.ts")).restSurface,
  a2a: async () => (await import("./a2a/surface.ts")).a2aSurface,
  registry: async () => (await import("./registry/surface.ts")).registrySurface,
  health: async () => (await import("./health.ts")).healthSurface,
  metrics: async () => (await import("./metrics.ts")).metricsSurface,
  ui: async () => (await import("./ui/surface.ts")).uiSurface,
  home: async () => (await import("./home.ts")).homeSurface,
};
