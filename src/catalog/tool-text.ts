import { listParameters } from "../tool/json-schema.ts";
import { splitWords } from "../tool/split-words.ts";
import type { Tool } from "../tool/tool.ts";
import type { FieldTexts } from "./lexical-fields.ts";

/** What a tool is found by. */
export type DescribedTool = Pick<
  Tool,
  | "name"
  | "namespace"
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
    namespace: namespaceText(tool.namespace),
  };
}

/** The text a tool is embedded by: `namespace name: description`, names as plain words. */
export function toolText(tool: DescribedTool): string {
  const subject = [namespaceText(tool.namespace), splitWords(tool.name).join(" ")].filter(Boolean).join(" ");
  return `${subject}: ${tool.description}`;
}

/** A namespace as plain words, without its owner and the words every MCP server has in its name. */
function namespaceText(namespace: string): string {
  return splitWords(namespace.replace(/^@[^/]+\//, ""))
    .filter((word) => word !== "mcp" && word !== "server" && word !== "default")
    .join(" ");
}
