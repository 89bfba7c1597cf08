import { listParameters } from "../tool/json-schema.ts";
import { originalOf } from "../tool/normalise-tool.ts";
import { splitWords } from "../tool/split-words.ts";
import type { Tool } from "../tool/tool.ts";
import type { FieldTexts } from "./lexical-fields.ts";

/** What a tool is found by. */
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
  return {
    name: tool.name,
    description: [tool.title, tool.description, tool.extendedDescription].filter(Boolean).join("\n"),
    tags: [...tool.tags, tool.category ?? ""].join(" "),
    examples: tool.examples.join("\n"),
    parameterNames: parameters.map(({ name }) => name).join(" "),
    parameterDescriptions: parameters.map(({ description }) => description).join("\n"),
    namespace: namespaceRuns(tool).join(" "),
  };
}

/** The text a tool is embedded by: `namespace name: description`, names as plain words. */
export function toolText(tool: DescribedTool): string {
  const subject = [...namespaceRuns(tool), tool.name].flatMap(splitWords).join(" ");
  return `${subject}: ${tool.description}`;
}

const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
/** Words that many namespaces have and that say nothing of what is in them. */
const NOISE: ReadonlySet<string> = new Set(["mcp", "server", "default"]);
/** No more of a namespace is read, whatever a source sends. */
const READ_LENGTH = 200;

/**
 * What a namespace is called, in runs of letters and digits, without its owner and the words every MCP server has in its name. It is read
 * as the source wrote it: `@owner/GitHub-MCP` says "GitHub", where the namespace made of it says `owner.github-mcp`.
 */
function namespaceRuns(tool: DescribedTool): readonly string[] {
  const { namespace } = originalOf(tool);
  const text = (typeof namespace === "string" ? namespace : tool.namespace).slice(0, READ_LENGTH);
  return (text.replace(/^@[^/]+\//, "").match(RUNS) ?? []).flatMap((run) => {
    const words = splitWords(run);
    // "GitHub" stays whole, since people also write "github"; "SlackMcpServer" comes apart.
    return words.some((word) => NOISE.has(word)) ? words.filter((word) => !NOISE.has(word)) : [run];
  });
}
