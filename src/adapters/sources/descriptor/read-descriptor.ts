import { dirname, resolve } from "node:path";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import type { ToolDraft } from "../../../tool/draft.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { LIMITS } from "../../../tool/limits.ts";
import { present } from "../../../base/present.ts";
import { compileSchema } from "../../validators/json-schema/compile-schema.ts";
import type { KeyPath } from "./key-lines.ts";
import {
  flag,
  number,
  openToml,
  type Refuse,
  required,
  table,
  tables,
  text,
  texts,
  type TomlDocument,
  whole,
} from "./toml-document.ts";

export interface EnsembleDescriptor {
  readonly name: string;
  readonly enabled: boolean;
  readonly description?: string;
  /** Timeout in seconds. */
  readonly configuration: { readonly timeout?: number; readonly maxRetries?: number; readonly maxConcurrent?: number };
  /** Absolute paths of the invokers' files. */
  readonly invokers: readonly string[];
  readonly refuse: Refuse;
}

export interface InvokerDescriptor {
  readonly name: string;
  readonly enabled: boolean;
  readonly draft: ToolDraft;
  /** `./module.ts#name`, or the name of a registered handler. */
  readonly handler: string | undefined;
  readonly refuse: Refuse;
}

const seconds = number(LIMITS.timeoutMinMs / 1000, LIMITS.timeoutMaxMs / 1000, "seconds");

const ENSEMBLE_FILE = { ensemble: required(table), defaults: table, invokers: tables };
const ENSEMBLE = { name: required(text), enabled: flag, description: text };
const DEFAULTS = { timeout: seconds, max_retries: whole(0, 5), max_concurrent: whole(1, 100_000) };

const INVOKER_FILE = { invoker: required(table), arguments: table };
const INVOKER = {
  name: required(text),
  enabled: flag,
  description: text,
  handler: text,
  title: text,
  version: text,
  category: text,
  tags: texts,
  examples: texts,
  timeout: seconds,
  read_only: flag,
  idempotent: flag,
  destructive: flag,
  capabilities: texts,
  risk_level: text,
  required_scopes: texts,
  requires_confirmation: flag,
};

/** Reads the file of an ensemble. Throws CONFIG_INVALID, with file, line and key of every problem. */
export async function readEnsemble(file: string, source: string): Promise<EnsembleDescriptor> {
  const document = await openToml(file, source, "CONFIG_INVALID");
  const root = document.table([], ENSEMBLE_FILE);
  const ensemble = "ensemble" in root ? document.table(["ensemble"], ENSEMBLE) : {};
  const defaults = "defaults" in root ? document.table(["defaults"], DEFAULTS) : {};
  const entries = Array.isArray(root["invokers"]) ? root["invokers"] : [];
  const invokers = entries.map((_, index) => document.table(["invokers", index], { source: required(text) })["source"]);
  document.refuseIfWrong();
  const { timeout, max_retries: maxRetries, max_concurrent: maxConcurrent } = defaults as Record<string, number>;
  return {
    enabled: true,
    ...(ensemble as Pick<EnsembleDescriptor, "name" | "description">),
    configuration: present({ timeout, maxRetries, maxConcurrent }),
    invokers: invokers.map((path) => resolve(dirname(file), String(path))),
    refuse: document.refuse,
  };
}

/** Reads the file of an invoker. Throws TOOL_INVALID, with file, line and key of every problem. */
export async function readInvoker(file: string, source: string): Promise<InvokerDescriptor> {
  const document = await openToml(file, source, "TOOL_INVALID");
  const root = document.table([], INVOKER_FILE);
  const invoker = "invoker" in root ? document.table(["invoker"], INVOKER) : {};
  document.refuseIfWrong();
  const draft = toDraft(invoker, root["arguments"] as JsonSchema | undefined);
  checkDraft(draft, document);
  document.refuseIfWrong();
  const { handler, enabled = true } = invoker as { readonly handler?: string; readonly enabled?: boolean };
  return { name: draft.name, enabled, draft, handler, refuse: document.refuse };
}

/** Fields of a tool that have a different name in an invoker's file. */
const SPELLED: Readonly<Record<string, string>> = {
  risk_level: "riskLevel",
  required_scopes: "requiredScopes",
  requires_confirmation: "requiresConfirmation",
};

function toDraft(invoker: Readonly<Record<string, unknown>>, parameters: JsonSchema | undefined): ToolDraft {
  const { enabled: _enabled, handler: _handler, timeout, read_only, idempotent, destructive, ...rest } = invoker;
  const annotations = present({ readOnly: read_only, idempotent, destructive });
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [SPELLED[key] ?? key, value])),
    ...(timeout !== undefined && { timeoutMs: Number(timeout) * 1000 }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(parameters && { parameters }),
  } as ToolDraft;
}

/** Checks a tool by the rules for handwritten definitions, and its arguments by the rules of JSON Schema. */
function checkDraft(draft: ToolDraft, document: TomlDocument): void {
  const steps = [() => defineTool(draft), () => draft.parameters && compileSchema(draft.parameters, { trusted: true })];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      if (!isArsenalError(error)) throw error;
      const { field = "parameters", value, fix = "", issues } = error.details;
      // The message contains the field and the fix, which are reported separately here.
      const message = error.message.replace(` ${fix}`, "").replace(/\.$/, "").split(`${field} `).at(-1) ?? "";
      for (const issue of issues ?? [{ field, value, fix: "Fix the schema.", message }])
        document.report(toKeyPath(issue.field), issue.message, issue.fix ?? fix, issue.value);
      return;
    }
  }
}

/** Returns the path in the file of a tool's field: `parameters.type` is at `arguments.type`. */
function toKeyPath(field: string): KeyPath {
  const [first = "", ...rest] = field.split(".");
  if (first === "parameters") return ["arguments", ...rest.map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
  const key = Object.keys(SPELLED).find((written) => SPELLED[written] === first) ?? first;
  return ["invoker", key, ...rest];
}
