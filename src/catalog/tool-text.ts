import { listParameters } from "../tool/json-schema.ts";
import { originalOf } from "../tool/normalise/normalise-tool.ts";
import { splitWords } from "../tool/split-words.ts";
import type { Tool } from "../tool/tool.ts";
import type { FieldTexts } from "./lexical/lexical-fields.ts";

export type DescribedTool = Pick<
  Tool,
  | "name"
  | "namespace"
  | "sourceName"
  | "sourceMeta"
  | "title"
  | "description"
  | "extendedDescription"
  | "examples"
  | "tags"
  | "category"
  | "parameters"
>;

/** Returns the parts of a tool for word search. */
export function toolFields(tool: DescribedTool): FieldTexts {
  const parameters = listParameters(tool.parameters);
  const joined = (texts: readonly string[], by: string): string => texts.join(by).slice(0, READ_FIELD_LENGTH);
  return {
    name: tool.name,
    description: joined(
      [tool.title?.slice(0, READ_LENGTH) ?? "", tool.description, tool.extendedDescription ?? ""].filter(Boolean),
      "\n",
    ),
    tags: joined([...tool.tags, tool.category ?? ""], " "),
    examples: joined(tool.examples, "\n"),
    parameterNames: joined(
      parameters.map(({ name }) => name),
      " ",
    ),
    parameterDescriptions: joined(
      parameters.map(({ description }) => description),
      "\n",
    ),
    namespace: namespaceRuns(tool).join(" "),
  };
}

/**
 * Returns the texts whose vectors are summed to the tool's vector: `namespace name: description`, and the same with parameters if it has any.
 * models/texts.py builds the same texts, because the shipped models were trained on them.
 */
export function toolTexts(tool: DescribedTool): readonly string[] {
  const { name, description } = originalOf(tool);
  const subject = [namespaceWords(tool), textWords((name.trim() === "" ? tool.name : name).slice(0, READ_LENGTH))]
    .flat()
    .join(" ");
  const short = `${subject}: ${typeof description === "string" ? description : ""}`.trim();
  const parameters = listParameters(tool.parameters)
    .map(({ name: own, description: about }) => textWords(own).join(" ") + (about === "" ? "" : ` (${about})`))
    .join(", ");
  return parameters === "" ? [short] : [short, `${short} parameters: ${parameters}`];
}

/** The maximum number of examples per tool that get their own vector. */
const MOST_EXAMPLES = 10;

/** Returns the example requests of a tool. Each gets its own vector. */
export function exampleTexts(tool: DescribedTool): readonly string[] {
  return tool.examples.filter((example) => example.trim() !== "").slice(0, MOST_EXAMPLES);
}

const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const LETTERS_AND_DIGITS = /[\p{L}\p{N}]+/gu;
const NON_ASCII = /\P{ASCII}/u;
const OWNER = /^@[^/]+\//;
/** Words that are common in namespaces and say nothing about their tools. */
const NOISE: ReadonlySet<string> = new Set(["mcp", "server", "default"]);
/** The maximum number of characters that are read: of a name or a namespace, and of all texts of one kind. */
const READ_LENGTH = 200;
const READ_FIELD_LENGTH = 30_000;

/**
 * Returns the words of a namespace as its source wrote it, without its owner and the usual words of MCP servers: `@owner/GitHub-MCP` becomes
 * "GitHub".
 */
function namespaceRuns(tool: DescribedTool): readonly string[] {
  return (writtenNamespace(tool).match(RUNS) ?? []).flatMap((run) => {
    const words = splitWords(run);
    // "GitHub" is not split, because people also write "github"; "SlackMcpServer" is.
    return words.some((word) => NOISE.has(word)) ? words.filter((word) => !NOISE.has(word)) : [run];
  });
}

function namespaceWords(tool: DescribedTool): readonly string[] {
  return textWords(writtenNamespace(tool)).filter((word) => !NOISE.has(word));
}

function writtenNamespace(tool: DescribedTool): string {
  const { namespace } = originalOf(tool);
  return (typeof namespace === "string" ? namespace : tool.namespace).slice(0, READ_LENGTH).replace(OWNER, "");
}

/** Splits text into words like the models' training data: camel case is split only in ASCII text. */
function textWords(text: string): readonly string[] {
  if (!NON_ASCII.test(text)) return splitWords(text);
  return (
    text
      .normalize("NFKC")
      .match(LETTERS_AND_DIGITS)
      ?.map((word) => word.toLowerCase()) ?? []
  );
}
