import { type JsonObject, RPC, RpcError } from "../../../../mcp/protocol.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Tool } from "../../../../tool/tool.ts";
import type { Exchange } from "../../plane.ts";
import { refusal } from "../../refusal.ts";
import { unknownTool } from "../../execute-call.ts";
import { sayConnecting, type Startup, withConnecting } from "../../../startup.ts";
import { callTool, type CallToolParts } from "./call-tool.ts";
import type { CatalogView, CatalogViews } from "../catalog-view.ts";
import type { CommonTools } from "./hybrid-tools.ts";
import { findTools } from "./find-tools.ts";
import type { ServeMode } from "../instructions.ts";
import { EXECUTE_TOOL, FIND_TOOL, META_TOOL_NAMES, META_TOOLS } from "./meta-tools.ts";
import { pageOf } from "../page.ts";
import { repairCall } from "./repair-call.ts";
import type { ServedArsenal } from "../../../served-arsenal.ts";
import { entryOf } from "./tool-entry.ts";
import { fromToolName } from "./tool-names.ts";

/** What answering `tools/list` and `tools/call` needs. */
export interface ToolsParts extends CallToolParts {
  readonly arsenal: ServedArsenal;
  readonly views: CatalogViews;
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
  const listed = shown.map((tool) => entryOf(tool).listed(peer.era));
  const { entries, cursor } = pageOf(mode === "static" ? listed : [...META_TOOLS, ...listed], params["cursor"]);
  return withConnecting({ tools: entries, ...cursor }, mode === "dynamic" ? [] : startup.connecting());
}

const MAY_BE_THEIRS = "The tool may be theirs: try again in a few seconds.";

/** Answers `tools/call`: of a meta-tool, where there are any, or of any tool by its name, listed or not. */
export async function callNamed(exchange: Exchange, parts: ToolsParts): Promise<JsonObject> {
  const { name, arguments: given } = exchange.params;
  if (typeof name !== "string") throw unknownTool(name);
  if (parts.mode !== "static" && META_TOOL_NAMES.has(name)) return callMetaTool(name, exchange, parts);
  // What can be no tool's name is asked for all the same, as an id that no tool has: every call leaves its record.
  const asked = fromToolName(name) ?? `.${name}`;
  if (given !== undefined && given !== null && !isPlainObject(given)) {
    const message = "arguments is not an object. Give an object with one member a parameter.";
    throw new RpcError({ code: RPC.invalidParams, message });
  }
  await waitUnless(exchange, parts, (view) => view.named(name));
  const called = await callTool(exchange, { toolName: asked, arguments: given ?? {} }, parts);
  if ("missing" in called) throw unknownTool(name, sayConnecting(parts.startup.connecting(), MAY_BE_THEIRS));
  return called.answer;
}

/** Waits for servers that are still connecting, unless the tool wanted is there and its own server is not among them. */
async function waitUnless(
  { peer, signal }: Exchange,
  { startup, views }: ToolsParts,
  find: (view: CatalogView) => Tool | undefined,
): Promise<void> {
  const waiting = startup.connecting();
  if (waiting.length > 0) {
    const tool = find(await views.of(peer.principal));
    if (tool !== undefined && !waiting.includes(tool.ensemble ?? "")) return;
  }
  const wait = startup.wait(signal);
  if (wait === undefined) return;
  await wait;
  views.clear();
}

async function callMetaTool(name: string, exchange: Exchange, parts: ToolsParts): Promise<JsonObject> {
  const { arguments: given } = exchange.params;
  const { views, startup } = parts;
  const { principal } = exchange.peer;
  const find = (args: unknown): Promise<JsonObject> => findTools(args, exchange, parts);
  if (name === FIND_TOOL) return find(given);
  await waitUnless(exchange, parts, (view) => repairCall(given, view.meant)?.tool);
  const call = repairCall(given, (await views.of(principal)).meant);
  if (call?.toolName === FIND_TOOL) return find(call.arguments);
  if (call === undefined || call.toolName === EXECUTE_TOOL) {
    const text = `tool_name is missing. Give the name of a tool that ${FIND_TOOL} returned, and its arguments.`;
    return { content: [{ type: "text", text }], isError: true };
  }
  const target = { toolName: call.tool?.id ?? call.toolName, arguments: call.arguments };
  const called = await callTool(exchange, target, parts);
  if (!("missing" in called)) return called.answer;
  // To the client the tool is `execute_tool`, which exists; the model is told about the other.
  const connecting = startup.connecting();
  return withConnecting(refusal(called.missing, sayConnecting(connecting, MAY_BE_THEIRS)), connecting);
}
