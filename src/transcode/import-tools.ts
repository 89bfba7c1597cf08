import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import type { Handler } from "../tool/handler.ts";
import { createPauses } from "../base/turns/event-loop.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { normaliseTool } from "../tool/normalise/normalise-tool.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolReader } from "./dialect.port.ts";

/** Tools in some format: a list, or an object by name. */
export type GivenTools = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Options to import tools. */
export interface ImportOptions {
  /** The namespace of the imported tools. Defaults to the name of the format. */
  readonly namespace?: string;
  /** Handlers by the name in the definition. Tool objects that run themselves need none. */
  readonly handlers?: Readonly<Record<string, Handler>>;
}

/** Reads tools from definitions, or from a framework's own tool objects. Unreadable tools are reported; the others are imported. */
export async function importTools(
  dialect: ToolReader,
  given: GivenTools,
  { namespace = dialect.name, handlers = {} }: ImportOptions = {},
) {
  const imported: { index: number; tool: Tool; handler?: Handler }[] = [];
  const rejected: { index: number; name: string; error: ArsenalError }[] = [];
  const ids = new Set<string>();
  const pause = createPauses();
  for (const [index, [key, item]] of entriesOf(given).entries()) {
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    try {
      const live = isObject(item) ? await dialect.readLive?.(named(key, item)) : undefined;
      const draft = { ...dialect.toCanonical(live?.definition ?? named(key, item)), ...live?.draft };
      const own =
        typeof draft.name === "string" && Object.hasOwn(handlers, draft.name) ? handlers[draft.name] : undefined;
      const handler = own ?? live?.handler;
      const source = draft.source ?? (handler === undefined ? "descriptor" : "function");
      const tool = normaliseTool(draft, { source, namespace, taken: (id) => ids.has(id) });
      ids.add(tool.id);
      imported.push({ index, tool, ...(handler === undefined ? {} : { handler }) });
    } catch (cause) {
      const error = isArsenalError(cause)
        ? cause
        : new ArsenalError("INPUT_INVALID", `The tool cannot be read: ${messageOf(cause)}`, { cause });
      rejected.push({ index, name: key ?? nameIn(item), error });
    }
  }
  return { imported, rejected };
}

function entriesOf(given: GivenTools): readonly (readonly [key: string | undefined, item: unknown])[] {
  if (Array.isArray(given)) return given.map((item: unknown) => [undefined, item]);
  if (isPlainObject(given)) return Object.entries(given);
  const fix = "Give a list of tools, or an object with tools by name.";
  throw fixable("INPUT_INVALID", `The tools to import are ${showValue(given)}.`, fix, { field: "tools", value: given });
}

/** Adds the key of a definition as its name. */
function named(key: string | undefined, item: unknown): object {
  return key !== undefined && isPlainObject(item) ? { ...item, name: key } : (item as object);
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" || typeof value === "function") && value !== null;
}

function nameIn(item: unknown): string {
  const name: unknown = isObject(item) ? (item as { name?: unknown }).name : undefined;
  return typeof name === "string" ? name : "";
}
