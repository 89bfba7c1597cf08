import type { ToolHost } from "../adapters/sources/source-adapter.ts";
import type { Events } from "../observe/emitter.ts";
import type { Registry } from "../register/registry.ts";

export function createToolHost(stages: {
  readonly registry: Pick<Registry, "get" | "similarId">;
  readonly events: Pick<Events, "subscribe">;
  readonly runs: ToolHost["runs"];
}): ToolHost {
  const { registry, events, runs } = stages;
  return {
    tool: (id) => registry.get(id),
    similarId: (id) => registry.similarId(id),
    watch: (changed) =>
      events.subscribe(({ data }) => changed("toolId" in data ? String(data.toolId) : undefined), {
        names: ["tool-registered", "tool-replaced", "tool-deleted", "catalog-changed"],
      }),
    runs,
  };
}
