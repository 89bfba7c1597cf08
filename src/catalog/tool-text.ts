import { listParameters } from "../tool/json-schema.ts";
import { originalOf } from "../tool/normalise/normalise-tool.ts";
import { splitWords } from "../tool/split-words.ts";
import type { Tool } from "../tool/tool.ts";
import type { FieldTexts } from "./lexical/lexical-fields.ts";

/** The fields of a tool that are searched. */
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

/** The parts of a tool that are searched by words. */
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
 * The texts whose vectors are summed to get the tool's vector: `namespace name: description`, and the same with its parameters if it has any.
 * models/texts.py writes them in the same way, because the shipped models were trained on them.
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

/** Examples that get vectors of their own; a tool has no more. */
const MOST_EXAMPLES = 10;

/** Example requests of a tool: each is found by its own vector. */
export function exampleTexts(tool: DescribedTool): readonly string[] {
  return tool.examples.filter((example) => example.trim() !== "").slice(0, MOST_EXAMPLES);
}

const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const LETTERS_AND_DIGITS = /[\p{L}\p{N}]+/gu;
const NON_ASCII = /\P{ASCII}/u;
const OWNER = /^@[^/]+\//;
/** Words that are common in namespaces and reveal nothing about their tools. */
const NOISE: ReadonlySet<string> = new Set(["mcp", "server", "default"]);
/** The most characters read of a name or a namespace, and of all texts of one kind, whatever a source sends. */
const READ_LENGTH = 200;
const READ_FIELD_LENGTH = 30_000;

/** The words of a namespace as its source wrote it, without its owner and the usual words of MCP servers: `@owner/GitHub-MCP` becomes "GitHub". */
function namespaceRuns(tool: DescribedTool): readonly string[] {
  return (writtenNamespace(tool).match(RUNS) ?? []).flatMap((run) => {
    const words = splitWords(run);
    // "GitHub" stays whole, since people also write "github"; "SlackMcpServer" is split.
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

/** Words as the models know them: camel case is split in plain ASCII only. */
function textWords(text: string): readonly string[] {
  if (!NON_ASCII.test(text)) return splitWords(text);
  return (
    text
      .normalize("NFKC")
      .match(LETTERS_AND_DIGITS)
      ?.map((word) => word.toLowerCase()) ?? []
  );
}
