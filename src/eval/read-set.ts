import { readFile } from "node:fs/promises";
import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { SourceDraft } from "../tool/draft.ts";

export interface SetTool {
  readonly id: string;
  readonly draft: SourceDraft;
}

export interface SetQuery {
  readonly id: string;
  readonly query: string;
  /** The ids of the right tools. Empty if no tool is right. */
  readonly relevant: readonly string[];
  /** Tools that are neither right nor wrong. */
  readonly alsoOk: readonly string[];
  /** Earlier turns, oldest first: `user: …`, `assistant: …`. */
  readonly history: readonly string[];
  readonly style: string | undefined;
  /** Searches only tools of these namespaces. */
  readonly namespaces?: readonly string[];
}

/** Reads `{"id","name","namespace","description","parameters"}` lines. */
export async function readTools(path: string): Promise<readonly SetTool[]> {
  const seen = new Set<string>();
  return readLines(path, (line, refuse) => {
    const id = text(line, "id") ?? refuse("id", line["id"], "a non-empty string");
    if (seen.has(id)) refuse("id", id, "unique in the file");
    seen.add(id);
    return {
      id,
      draft: {
        name: (line["name"] as string | undefined) ?? id,
        namespace: (line["namespace"] as string | null) || "default",
        description: line["description"] as string | null,
        parameters: line["parameters"] as SourceDraft["parameters"] & {},
      },
    };
  });
}

/** Reads `{"id","query","relevant":[…]}` lines, with `also_ok`, `history` and `style` if present. */
export async function readQueries(path: string, known: ReadonlySet<string>): Promise<readonly SetQuery[]> {
  return readLines(path, (line, refuse) => {
    /** A present optional field must be valid. */
    const optional = <Value>(
      read: (line: SetLine, field: string) => Value | undefined,
      field: string,
      expected: string,
    ) =>
      line[field] === undefined || line[field] === null
        ? undefined
        : (read(line, field) ?? refuse(field, line[field], expected));
    const relevant = texts(line, "relevant") ?? refuse("relevant", line["relevant"], "a list of tool ids");
    const unknown = relevant.find((id) => !known.has(id));
    if (unknown !== undefined) refuse("relevant", unknown, "the id of a tool in the tools file");
    return {
      id: text(line, "id") ?? refuse("id", line["id"], "a non-empty string"),
      query: text(line, "query") ?? refuse("query", line["query"], "a non-empty string"),
      relevant,
      alsoOk: optional(texts, "also_ok", "a list of tool ids") ?? [],
      history: optional(texts, "history", "a list of strings") ?? [],
      style: optional(text, "style", "a non-empty string"),
    };
  });
}

type SetLine = Record<string, unknown>;

type Refuse = (field: string, value: unknown, expected: string) => never;

async function readLines<Row>(path: string, read: (line: SetLine, refuse: Refuse) => Row): Promise<readonly Row[]> {
  const content = await readFile(path, "utf8").catch((cause: unknown) => {
    throw fixable("INPUT_INVALID", `Cannot read ${path}.`, "Check the path.", { field: path, value: path, cause });
  });
  const rows: Row[] = [];
  // Some editors begin a file with a byte order mark, which is not JSON.
  const lines = content.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const at = `${path}:${index + 1}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      const problem = `${at}: not JSON: ${showValue(line)}.`;
      throw fixable("INPUT_INVALID", problem, ONE_PER_LINE, { field: at, value: line, cause });
    }
    const refuse: Refuse = (field, held, expected) => {
      const message = `${at}: ${field} must be ${expected}, not ${showValue(held)}.`;
      const details = { field: `${at} ${field}`, value: held, fix: `Make ${field} ${expected}.` };
      throw new ArsenalError("INPUT_INVALID", message, details);
    };
    rows.push(read(isPlainObject(value) ? value : refuse("the line", value, "a JSON object"), refuse));
  }
  if (rows.length === 0) throw fixable("INPUT_INVALID", `${path} is empty.`, ONE_PER_LINE, { field: path, value: "" });
  return rows;
}

const ONE_PER_LINE = "Write one JSON object per line.";

function text(line: SetLine, field: string): string | undefined {
  const value = line[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(line: SetLine, field: string): readonly string[] | undefined {
  const value = line[field];
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? (value as string[]) : undefined;
}
