import type { JsonSchema } from "../../../tool/json-schema.ts";
import { BATCH_CALL, BATCH_RESULT, PROBLEM, PROGRESS, TOOL_CALL, TOOL_RESULT } from "./call.ts";
import { RETRIEVAL_RESULT, RETRIEVE_TOOLS, SCORED_TOOL, TOOL_QUERY } from "./search.ts";
import { HEALTH, TOOL, TOOL_DRAFT } from "./tool.ts";
import { TOOLSET } from "../../../toolset/toolset.ts";

/** Schemas with their own name in the document. The document refers to these objects wherever they are used. */
export const COMPONENTS: Readonly<Record<string, JsonSchema>> = {
  Tool: TOOL,
  ToolDraft: TOOL_DRAFT,
  Health: HEALTH,
  ToolQuery: TOOL_QUERY,
  RetrieveTools: RETRIEVE_TOOLS,
  RetrievalResult: RETRIEVAL_RESULT,
  ScoredTool: SCORED_TOOL,
  ToolCall: TOOL_CALL,
  ToolResult: TOOL_RESULT,
  Progress: PROGRESS,
  BatchCall: BATCH_CALL,
  BatchResult: BATCH_RESULT,
  Toolset: TOOLSET,
  Problem: PROBLEM,
};
