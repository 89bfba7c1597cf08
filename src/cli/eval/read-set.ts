import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { SourceDraft } from "../../tool/draft.ts";

/** A tool of an evaluation set. Its id is whatever the file says. */
export interface SetTool {
  readonly id: string;
  readonly draft: SourceDraft;
}

/** A query of an evaluation set. */
export interface SetQuery {
  readonly id: string;
  readonly query: string;
  /** Empty where nothing fits. */
  readonly relevant: readonly string[];
  /** Tools that neither count nor cost. */
  readonly alsoOk: readonly string[];
  /** Earlier turns, oldest first: `user: …`, `assistant: …`. */
  readonly history: readonly string[];
  readonly style: string | undefined;
}

/** Reads `{"id","name","namespace","description","parameters"}` lines. */
export async function readTools(path: string): Promise<readonly SetTool[]> {
  const seen = new Set<string>();
  return readLines(path, (line, refuse) => {
    const id = text(line, "id") ?? refuse("id", line["id"], "a text");
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

/** Reads `{"id","query","relevant":[…]}` lines, with `also_ok`, `history` and `style` where given. */
export async function readQueries(path: string, known: ReadonlySet<string>): Promise<readonly SetQuery[]> {
  return readLines(path, (line, refuse) => {
    const relevant = texts(line, "relevant") ?? refuse("relevant", line["relevant"], "a list of tool ids");
    const unknown = relevant.find((id) => !known.has(id));
    if (unknown !== undefined) refuse("relevant", unknown, "the id of a tool in the tools file");
    return {
      id: text(line, "id") ?? refuse("id", line["id"], "a text"),
      query: text(line, "query") ?? refuse("query", line["query"], "a text"),
      relevant,
      alsoOk: texts(line, "also_ok") ?? [],
      history: texts(line, "history") ?? [],
      style: text(line, "style"),
    };
  });
}

type Refuse = (field: string, value: unknown, expected: string) => never;

async function readLines<Row>(
  path: string,
  read: (line: Record<string, unknown>, refuse: Refuse) => Row,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let number = 0;
  const stream = createReadStream(path, "utf8");
  const opened = new Promise<void>((resolve, reject) => stream.once("ready", resolve).once("error", reject));
  await opened.catch((cause: unknown) => {
    throw new ArsenalError("INPUT_INVALID", `The file ${path} cannot be read. Check the path.`, {
      field: path,
      fix: "Check the path.",
      cause,
    });
  });
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    number += 1;
    if (line.trim() === "") continue;
    const at = `${path}:${number}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw new ArsenalError(
        "INPUT_INVALID",
        `${at}: this line is not JSON: ${showValue(line)}. Each line is one JSON object.`,
        {
          field: at,
          value: line,
          fix: "Write one JSON object a line.",
          cause,
        },
      );
    }
    const refuse: Refuse = (field, held, expected) => {
      throw new ArsenalError("INPUT_INVALID", `${at}: ${field} is ${expected}, not ${showValue(held)}.`, {
        field: `${at} ${field}`,
        value: held,
        fix: `Make ${field} ${expected}.`,
      });
    };
    rows.push(read(isPlainObject(value) ? value : refuse("the line", value, "a JSON object"), refuse));
  }
  return rows;
}

function text(line: Record<string, unknown>, field: string): string | undefined {
  const value = line[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(line: Record<string, unknown>, field: string): readonly string[] | undefined {
  const value = line[field];
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? (value as string[]) : undefined;
}
