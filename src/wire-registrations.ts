import type { AnyDialect, AskedBy } from "./arsenal-options.ts";
import type { Emit } from "./observe/events.ts";
import type { BatchRegistration, RegisteredBatch } from "./register/register-batch.ts";
import type { RefusedRegistration, Registration, Registry } from "./register/registry.ts";
import { ofTenant, refusalToChange } from "./register/tenant-tools.ts";
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

  /** Takes tools in for a caller. Those of a tenant's caller are that tenant's, and replace no others. */
  async function addFor(
    tenant: string | undefined,
    entries: readonly Registration[],
  ): Promise<readonly RefusedRegistration[]> {
    if (tenant === undefined) return registry.add(entries);
    // The tools of sources and of other processes are known from here on.
    await visible();
    const stored = await registry.getAll(entries.map(({ tool }) => tool.id));
    const refused = entries.flatMap(({ tool }) => {
      const error = refusalToChange(registry.own(tool.id)?.tool ?? stored.get(tool.id), tenant);
      return error === undefined ? [] : [{ tool, error }];
    });
    for (const { tool, error } of refused)
      emit("tool-rejected", { name: tool.id, code: error.code, message: error.message });
    const isRefused = new Set(refused.map(({ tool }) => tool));
    return [...refused, ...registry.add(entries.filter(({ tool }) => !isRefused.has(tool)))];
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
    async addTool(draft: ToolDraft, handler?: Handler, { principal }: AskedBy = {}): Promise<Tool> {
      const tenant = principal?.tenant;
      const defined = defineTool(draft);
      const tool = tenant === undefined ? defined : ofTenant(defined, tenant);
      const [refused] = await addFor(tenant, [handler ? { tool, handler } : { tool }]);
      if (refused !== undefined) throw refused.error;
      await sync?.();
      return tool;
    },
    async addTools(batch: readonly BatchRegistration[], { principal }: AskedBy = {}): Promise<RegisteredBatch> {
      const { registerBatch } = await import("./register/register-batch.ts");
      const tenant = principal?.tenant;
      const outcome = await registerBatch({ add: (entries) => addFor(tenant, entries) }, batch, emit, tenant);
      await sync?.();
      return outcome;
    },
    async importTools(
      format: AnyDialect,
      tools: GivenTools,
      options: ImportOptions,
      { principal }: AskedBy = {},
    ): Promise<RegisteredBatch> {
      const { importTools } = await import("./transcode/import-tools.ts");
      const dialect = await dialectOf(format, Array.isArray(tools) ? tools[0] : Object.values(tools)[0]);
      const { imported: read, rejected } = await importTools(dialect, tools, options);
      for (const { name, error } of rejected) emit("tool-rejected", { name, code: error.code, message: error.message });
      const tenant = principal?.tenant;
      const imported =
        tenant === undefined ? read : read.map((each) => ({ ...each, tool: ofTenant(each.tool, tenant) }));
      const refused = new Map((await addFor(tenant, imported)).map(({ tool, error }) => [tool, error]));
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
      const refusal = refusalToChange(tool, by.principal?.tenant);
      if (refusal !== undefined) throw refusal;
      return tool !== undefined && registry.delete(tool.id);
    },
  };
}
