import { type JsonObject, RPC, RpcError } from "../../../../mcp/protocol.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { CommonTools } from "../../../meta-tools/hybrid-tools.ts";
import { META_TOOL_NAMES, META_TOOLS, type ServeMode } from "../../../meta-tools/definitions.ts";
import type { MetaTools } from "../../../meta-tools/meta-tools.ts";
import { fromToolName } from "../../../meta-tools/tool-names.ts";
import type { ServedArsenal } from "../../../served-arsenal.ts";
import { sayConnecting, type Startup, withConnecting } from "../../../startup.ts";
import { unknownTool } from "../../client-call.ts";
import type { Exchange } from "../../plane.ts";
import { refusal } from "../../refusal.ts";
import { pageOf } from "../page.ts";
import { callTool, type CallToolParts } from "./call-tool.ts";
import { listedTool } from "./tool-entry.ts";

/** What answering `tools/list` and `tools/call` needs. */
export interface ToolsParts extends CallToolParts {
  readonly arsenal: ServedArsenal;
  readonly metaTools: MetaTools;
  readonly mode: ServeMode;
  readonly common: CommonTools;
  readonly startup: Startup;
}

/** Answers `tools/list`, in the same order for every caller. Waits for servers only if their tools are listed. */
export async function listTools({ params, peer, signal }: Exchange, parts: ToolsParts): Promise<JsonObject> {
  const { mode, common, arsenal, startup } = parts;
  if (mode !== "dynamic") await startup.wait(signal);
  const tools = mode === "dynamic" ? [] : await arsenal.listTools({ principal: peer.principal });
  const shown = mode === "hybrid" ? tools.filter((tool) => common.includes(tool)) : tools;
  const listed = shown.map((tool) => listedTool(tool, peer.era));
  const all: readonly object[] = mode === "static" ? listed : [...META_TOOLS, ...listed];
  const { entries, cursor } = pageOf(all, params["cursor"]);
  return withConnecting({ tools: entries, ...cursor }, mode === "dynamic" ? [] : startup.connecting());
}

const MAY_BE_THEIRS = "The tool may be theirs: try again in a few seconds.";

/** Answers `tools/call`: of a meta-tool, where there are any, or of any tool by its name, listed or not. */
export async function callNamed(exchange: Exchange, parts: ToolsParts): Promise<JsonObject> {
  const { params, peer, signal } = exchange;
  const { name, arguments: given } = params;
  if (typeof name !== "string") throw unknownTool(name);
  if (parts.mode !== "static" && META_TOOL_NAMES.has(name)) return callMetaTool(name, exchange, parts);
  // What can be no tool's name is asked for all the same, as an id that no tool has: every call leaves its record.
  const asked = fromToolName(name) ?? `.${name}`;
  if (given !== undefined && given !== null && !isPlainObject(given)) {
    const message = "arguments is not an object. Give an object with one member a parameter.";
    throw new RpcError({ code: RPC.invalidParams, message });
  }
  await parts.metaTools.waitFor(name, { principal: peer.principal, signal });
  const called = await callTool(exchange, { toolName: asked, arguments: given ?? {} }, parts);
  if ("missing" in called) throw unknownTool(name, sayConnecting(parts.startup.connecting(), MAY_BE_THEIRS));
  return called.answer;
}

/**
 * Found tools are sent once, as text: clients show models the text of a tool without output schema, and some of them add structured content to
 * it, which would then cost twice.
 */
async function callMetaTool(name: string, exchange: Exchange, parts: ToolsParts): Promise<JsonObject> {
  const { params, peer, signal } = exchange;
  const answer = await parts.metaTools.answer(name, params["arguments"], { principal: peer.principal, signal });
  switch (answer.kind) {
    case "found":
      return { content: [{ type: "text", text: JSON.stringify(answer.found) }] };
    case "invalid":
      return { content: [{ type: "text", text: answer.message }], isError: true };
    case "call": {
      const called = await callTool(exchange, answer, parts);
      if (!("missing" in called)) return called.answer;
      // To the client the tool is `execute_tool`, which exists; the model is told about the other.
      const connecting = parts.startup.connecting();
      return withConnecting(refusal(called.missing, sayConnecting(connecting, MAY_BE_THEIRS)), connecting);
    }
  }
}
