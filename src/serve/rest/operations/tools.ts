import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { type Operation, operation } from "../operation.ts";

/** Looking at tools, adding and removing them. */
export const toolOperations: readonly Operation[] = [
  operation({
    id: "getTool",
    method: "get",
    path: "/tools/{id}",
    tag: "Tools",
    summary: "Get one tool",
    params: {
      type: "object",
      properties: { id: { type: "string", description: "The tool's id: `billing.refund_user`." } },
      required: ["id"],
    },
    answers: { 200: { description: "The tool.", schema: { type: "object" } } },
    problems: ["TOOL_NOT_FOUND"],
    async run({ params: { id }, principal }, { arsenal }) {
      const dot = id.indexOf(".");
      const tool = await arsenal.getTool(id.slice(dot + 1), dot === -1 ? "default" : id.slice(0, dot), { principal });
      if (tool === undefined) {
        const fix = "List the tools with GET /api/v1/tools.";
        throw new ArsenalError("TOOL_NOT_FOUND", `There is no tool "${id}". ${fix}`, { field: "id", value: id, fix });
      }
      return { body: tool, headers: { etag: `"${tool.contentHash}"` } };
    },
  }),
];
