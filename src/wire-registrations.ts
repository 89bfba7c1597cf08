import type { AnyDialect, AskedBy } from "./arsenal-options.ts";
import type { Emit } from "./observe/events.ts";
import type { BatchRegistration, RegisteredBatch } from "./register/register-batch.ts";
import type { Registration, Registry } from "./register/registry.ts";
import { defineTool } from "./tool/define-tool.ts";
import type { ToolDraft } from "./tool/draft.ts";
import type { Handler } from "./tool/handler.ts";
import type { Tool } from "./tool/tool.ts";
import type { Dialect, Loss } from "./transcode/dialect.port.ts";
import type { GivenTools, ImportOptions } from "./transcode/import-tools.ts";
import type { VisibleTools } from "./visible-tools.ts";

/** How tools are written. */
export interface ExportOptions extends AskedBy {
  /** Asks for the provider's strict mode for the tools that can have it, within what one request may hold. */
  readonly strict?: boolean;
}

/** Tools as an API takes them, in the order asked for. */
export interface ExportedTools {
  readonly tools: readonly object[];
  /** What could not be carried over. */
  readonly losses: readonly (Loss & { readonly tool: string })[];
  /** Ids that no tool has, or none that the caller may see. */
  readonly missing: readonly string[];
}

/** How tools get into the registry, and out of it. */
export function createRegistrations(parts: {
  readonly registry: Registry;
  readonly visible: () => Promise<VisibleTools>;
  readonly emit: Emit;
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** Indexes what was registered; omitted if that waits for the next request. */
  readonly sync: (() => Promise<unknown>) | undefined;
}) {
  const { registry, visible, emit, dialects, sync } = parts;

  function add(registration: Registration): Promise<unknown> {
    registry.addOne(registration);
    return sync?.() ?? Promise.resolve();
  }

  async function dialectOf(format: AnyDialect, hint?: unknown): Promise<Dialect> {
    const { toDialect } = await import("./adapters/dialects/built-in.ts");
    return toDialect(format, hint, dialects, "format");
  }

  return {
    /** Registers one tool. Throws at once if it is refused; what could not be indexed stays pending, and the next sync reports it. */
    register(registration: Registration): Tool {
      add(registration).catch(() => {});
      return registration.tool;
    },
    async addTool(draft: ToolDraft, handler?: Handler): Promise<Tool> {
      const tool = defineTool(draft);
      await add(handler ? { tool, handler } : { tool });
      return tool;
    },
    async addTools(batch: readonly BatchRegistration[]): Promise<RegisteredBatch> {
      const { registerBatch } = await import("./register/register-batch.ts");
      const outcome = registerBatch(registry, batch, emit);
      await sync?.();
      return outcome;
    },
    async importTools(format: AnyDialect, tools: GivenTools, options: ImportOptions): Promise<RegisteredBatch> {
      const { importTools } = await import("./transcode/import-tools.ts");
      const dialect = await dialectOf(format, Array.isArray(tools) ? tools[0] : Object.values(tools)[0]);
      const { imported, rejected } = await importTools(dialect, tools, options);
      for (const { name, error } of rejected) emit("tool-rejected", { name, code: error.code, message: error.message });
      const refused = new Map(registry.add(imported).map(({ tool, error }) => [tool, error]));
      await sync?.();
      const outcomes = imported.map((each) => ({ ...each, name: each.tool.name, error: refused.get(each.tool) }));
      return {
        registered: outcomes.flatMap(({ tool, error }) => (error === undefined ? [tool] : [])),
        rejected: [
          ...rejected,
          ...outcomes.flatMap(({ index, name, error }) => (error === undefined ? [] : [{ index, name, error }])),
        ].sort((one, other) => one.index - other.index),
      };
    },
    async exportTools(format: AnyDialect, ids: readonly string[], options: ExportOptions): Promise<ExportedTools> {
      const { strict = false, ...by } = options;
      const { convertTools } = await import("./transcode/convert-tools.ts");
      const dialect = await dialectOf(format);
      const found = new Map((await (await visible()).list({ filter: { ids }, ...by })).map((tool) => [tool.id, tool]));
      const asked = ids.flatMap((id) => found.get(id) ?? []);
      const { tools, losses } = convertTools(asked, dialect, { strict, limited: true });
      return { tools, losses, missing: ids.filter((id) => !found.has(id)) };
    },
    async deleteTool(name: string, namespace: string, by: AskedBy): Promise<boolean> {
      const tool = await (await visible())[by.principal === undefined ? "find" : "get"](name, namespace, by);
      return tool !== undefined && registry.delete(tool.id);
    },
  };
}
