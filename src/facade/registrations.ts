import type { AnyDialect, AskedBy, ViewedBy } from "./options.ts";
import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import type { Principal } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import type { BatchRegistration, RegisteredBatch } from "../register/register-batch.ts";
import type { RefusedRegistration, Registration, Registry } from "../register/registry.ts";
import { asOwnedByCode, ofTenant, ownedError, refusalToChange } from "../register/owner.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import type { Dialect, Loss, ToolReader } from "../transcode/dialect.port.ts";
import type { GivenTools, ImportOptions } from "../transcode/import-tools.ts";
import type { VisibleTools } from "./visible-tools.ts";

/** Options of `exportTools`. */
export interface ExportOptions extends ViewedBy {
  /** Uses the provider's strict mode for the tools that support it, within the limits of one request. */
  readonly strict?: boolean;
}

/** Tools in the format of an API, in the order of the given ids. */
export interface ExportedTools {
  readonly tools: readonly object[];
  /** The parts of the definitions that the format cannot express. */
  readonly losses: readonly (Loss & { readonly tool: string })[];
  /** Ids for which there is no tool, or no tool that the caller may call. */
  readonly missing: readonly string[];
}

export function createRegistrations(parts: {
  readonly registry: Registry;
  readonly visible: () => Promise<VisibleTools>;
  readonly emit: Emit;
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** Indexes new registrations. Omitted if they are indexed with the next request. */
  readonly sync: (() => Promise<unknown>) | undefined;
}) {
  const { registry, visible, emit, dialects, sync } = parts;

  function add(registration: Registration): Promise<unknown> {
    registry.addOne(registration);
    return sync?.() ?? Promise.resolve();
  }

  /** Returns the tools that this caller may not register, with the reasons. The program itself may register every tool. */
  async function refusals(
    entries: readonly Registration[],
    { principal }: AskedBy,
  ): Promise<readonly RefusedRegistration[]> {
    if (principal === undefined) return [];
    // Loads the tools of sources and of other processes into the registry.
    await visible();
    const known = new Map((await registry.getAll(entries.map(({ tool }) => tool.id))).map((tool) => [tool.id, tool]));
    const { mapInTurns } = await import("../register/in-turns.ts");
    const refused = await mapInTurns(entries, ({ tool }) => {
      const error = refusalTo(known.get(tool.id), principal) ?? claimError(tool);
      if (error === undefined) return [];
      emit("tool-rejected", { name: tool.id, code: error.code, message: error.message });
      return [{ tool, error }];
    });
    return refused.flat();
  }

  /** Registers the tools that the caller may register. Returns the refused ones. */
  async function addAll(entries: readonly Registration[], by: AskedBy): Promise<readonly RefusedRegistration[]> {
    const refused = await refusals(entries, by);
    const tools = new Set(refused.map(({ tool }) => tool));
    const { mapInTurns } = await import("../register/in-turns.ts");
    const others = await mapInTurns(entries, (entry) => (tools.has(entry.tool) ? [] : registry.add([entry])));
    return [...refused, ...others.flat()];
  }

  async function dialectOf(format: AnyDialect, hint?: unknown): Promise<Dialect> {
    const { toDialect } = await import("../adapters/dialects/built-in.ts");
    return toDialect(format, hint, dialects, "format");
  }

  /** Returns the reader of a framework's tool objects, or the dialect. */
  async function readerOf(format: AnyDialect, tools: GivenTools): Promise<ToolReader> {
    const { frameworkTools } = await import("../adapters/dialects/frameworks/manifest.ts");
    const load =
      typeof format === "string" && Object.hasOwn(frameworkTools, format) ? frameworkTools[format] : undefined;
    if (load !== undefined) return (await load()).reader;
    return dialectOf(format, Array.isArray(tools) ? tools[0] : Object.values(tools)[0]);
  }

  return {
    /**
     * Registers one tool. Throws synchronously if the tool is refused. If indexing fails, the tool stays pending, and the next sync reports the
     * failure.
     */
    register(registration: Registration): Tool {
      const tool = asOwnedByCode(registration.tool);
      add({ ...registration, tool }).catch(() => {});
      return tool;
    },
    async addTool(draft: ToolDraft, handler?: Handler, by: AskedBy = {}): Promise<Tool> {
      const tool = ofCaller(defineTool(draft), by);
      const entry = handler ? { tool: asOwnedByCode(tool), handler } : { tool };
      // The program's own tools are registered at once.
      const [refused] = by.principal === undefined ? [] : await refusals([entry], by);
      if (refused) throw refused.error;
      await add(entry);
      return entry.tool;
    },
    async addTools(batch: readonly BatchRegistration[], by: AskedBy = {}): Promise<RegisteredBatch> {
      const { registerBatch } = await import("../register/register-batch.ts");
      const { tenant } = by.principal ?? {};
      const outcome = await registerBatch({ add: (entries) => addAll(entries, by) }, batch, emit, tenant);
      await sync?.();
      return outcome;
    },
    async importTools(
      format: AnyDialect,
      tools: GivenTools,
      options: ImportOptions,
      by: AskedBy = {},
    ): Promise<RegisteredBatch> {
      const { importTools } = await import("../transcode/import-tools.ts");
      const { imported: read, rejected } = await importTools(await readerOf(format, tools), tools, options);
      const { mapInTurns } = await import("../register/in-turns.ts");
      const imported = await mapInTurns(read, (each) => {
        const tool = ofCaller(each.tool, by);
        return { ...each, tool: each.handler ? asOwnedByCode(tool) : tool };
      });
      for (const { name, error } of rejected) emit("tool-rejected", { name, code: error.code, message: error.message });
      const refused = new Map((await addAll(imported, by)).map(({ tool, error }) => [tool, error]));
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
      const { convertTools } = await import("../transcode/convert-tools.ts");
      const dialect = await dialectOf(format);
      const found = new Map((await (await visible()).list({ filter: { ids }, ...by })).map((tool) => [tool.id, tool]));
      const asked = ids.flatMap((id) => found.get(id) ?? []);
      const { tools, losses } = convertTools(asked, dialect, { strict, limited: true });
      return { tools, losses, missing: ids.filter((id) => !found.has(id)) };
    },
    async deleteTool(name: string, namespace: string, by: AskedBy): Promise<boolean> {
      const tool = await (await visible())[by.principal === undefined ? "find" : "get"](name, namespace, by);
      const error = by.principal && refusalTo(tool, by.principal);
      if (error) throw error;
      return tool !== undefined && registry.delete(tool.id);
    },
  };
}

function ofCaller(tool: Tool, { principal }: AskedBy): Tool {
  return principal?.tenant === undefined ? tool : ofTenant(tool, principal.tenant);
}

/** Returns the error if a caller may not replace or delete a tool. Undefined if the tool does not exist, or the caller may change it. */
function refusalTo(tool: Tool | undefined, { tenant }: Principal): ArsenalError | undefined {
  return refusalToChange(tool, tenant) ?? (tool && ownedError(tool));
}

/** Returns an error for a posted tool that claims to belong to an ensemble, because only the ensemble's source could delete it. */
function claimError({ id, ensemble }: Tool): ArsenalError | undefined {
  if (ensemble === undefined) return undefined;
  const problem = `${id} names the ensemble "${ensemble}", but only the source of that ensemble may do so.`;
  return fixable("TOOL_INVALID", problem, "Leave ensemble out.", { field: "ensemble", value: ensemble });
}
