import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { configInvalid, type LocatedIssue } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { checkOf } from "../../../tool/shape/check.ts";
import { readDocument } from "../../policies/rules/document/read-document.ts";
import { WORKFLOW, type WorkflowDefinition } from "./definition.ts";
import { planWorkflow, type WorkflowPlan } from "./plan.ts";
import type { ReportProblem } from "./template.ts";

export const ENDINGS: readonly string[] = [".yaml", ".yml", ".json", ".ts", ".mts", ".js", ".mjs"];

/** Longer files are not read. */
const MAX_CHARACTERS = 512 * 1024;

/** A workflow file, with the position of each value. */
export interface WorkflowFile {
  readonly file: string;
  readonly plan: WorkflowPlan;
  /** Returns the start of a message: `refund.yaml:3:5 `. */
  locate(path: readonly string[]): string;
}

const checkShape = checkOf(WORKFLOW);

/**
 * Reads a workflow file. Throws CONFIG_INVALID, with file, line and fix of every problem. The tools are checked later. Returns undefined for data of
 * another program, such as tsconfig.json, unless a path names the file.
 */
export async function readWorkflow(
  file: string,
  { isGiven }: { readonly isGiven: boolean },
): Promise<WorkflowFile | undefined> {
  const name = basename(file);
  const text = await readFile(file, "utf8");
  const refuse = (message: string, fix: string): never => {
    throw configInvalid([{ field: "workflow", message, fix, at: `${name}:1:1 ` }]);
  };
  if (text.length > MAX_CHARACTERS) refuse(`the file has more than ${MAX_CHARACTERS} characters`, "Split it.");
  const { value, locate } = isCode(file) ? await readModule(file, text) : readDocument(text, name);
  const start = "Start with name:, description: and steps:. To leave the file out, begin its name with _.";
  if (!isPlainObject(value)) return refuse("the file is not a workflow", start);
  if (!isGiven && !isLikeWorkflow(value)) return undefined;
  const issues: LocatedIssue[] = [];
  checkShape(value, "", (field, given, message, fix) => {
    issues.push({ field, message, value: given, fix, at: locate(field.split(".")) });
  });
  if (issues.length > 0) throw configInvalid(issues);
  const plan = planWorkflow(value as unknown as WorkflowDefinition, collectIn(issues, locate));
  if (issues.length > 0 || plan === undefined) throw configInvalid(issues);
  return { file, plan, locate };
}

/** True for data that has steps, even with a misspelt key, or that has no steps yet. */
function isLikeWorkflow(value: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(value);
  return keys.some((key) => /step/i.test(key)) || (keys.includes("name") && keys.includes("description"));
}

/** Plans a definition that was checked before. Throws if this version of the program cannot run it. */
export function toPlan(definition: WorkflowDefinition): WorkflowPlan {
  const issues: LocatedIssue[] = [];
  const plan = planWorkflow(
    definition,
    collectIn(issues, () => ""),
  );
  if (plan === undefined || issues.length > 0) throw configInvalid(issues);
  return plan;
}

/** Returns a function that collects reported problems with their positions. */
export function collectIn(issues: LocatedIssue[], locate: WorkflowFile["locate"]): ReportProblem {
  return (path, message, value, fix) => {
    const shown = typeof value === "string" || typeof value === "number" ? { value } : {};
    issues.push({ field: path.join("."), message, ...shown, fix, at: locate(path) });
  };
}

function isCode(file: string): boolean {
  return /^\.[cm]?[jt]s$/.test(extname(file).toLowerCase());
}

/** Imports the default export of a file. A changed file is imported as a new module. */
async function readModule(file: string, text: string) {
  const name = basename(file);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  let value: unknown;
  try {
    const module = (await import(`${pathToFileURL(file).href}?${hash}`)) as { readonly default?: unknown };
    // Plain data can be stored with a run.
    value = module.default === undefined ? undefined : JSON.parse(JSON.stringify(module.default));
  } catch (cause) {
    const isCommonJs = cause instanceof SyntaxError && /Unexpected token 'export'|outside a module/.test(cause.message);
    const fix = isCommonJs
      ? 'Name the file .mts or .mjs, or set "type": "module" in the nearest package.json.'
      : "Run the file with node to see where it fails.";
    throw configInvalid([
      { field: "module", message: `cannot be loaded: ${messageOf(cause).replace(/\.$/, "")}`, fix, at: `${name}:1:1 ` },
    ]);
  }
  return { value, locate: (path: readonly string[]) => `${name}:${lineOf(text, path, value)}:1 ` };
}

const ID = /\bid["']?:\s*["'`]([^"'`]*)["'`]/;

/** Returns the line of a value in source code: the line of its key, below the `id` of its step. */
function lineOf(text: string, path: readonly string[], value: unknown): number {
  const lines = text.split("\n");
  let from = 0;
  if (path[0] === "steps" && path[1] !== undefined && isPlainObject(value) && Array.isArray(value["steps"])) {
    const id: unknown = (value["steps"][Number(path[1])] as { readonly id?: unknown } | undefined)?.id;
    const found = lines.findIndex((line) => ID.exec(line)?.[1] === id);
    if (found >= 0) from = found;
  }
  for (const key of path.toReversed()) {
    const found = lines.slice(from).findIndex((line) => line.includes(`${key}:`) || line.includes(`"${key}":`));
    if (found >= 0 && Number.isNaN(Number(key))) return from + found + 1;
  }
  return from + 1;
}
