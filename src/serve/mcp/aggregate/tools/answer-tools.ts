import type { ToolCall } from "../../../../execute/call.ts";
import type { ToolResult } from "../../../../execute/result.ts";
import type { Ask, McpRequest } from "../../../../mcp/connection.ts";
import { EXTENSIONS, withExtensions } from "../../../../mcp/extensions.ts";
import { isInputRequired, type JsonObject, META, RPC, RpcError } from "../../../../mcp/protocol.ts";
import { canonicalJson } from "../../../../tool/json/canonical-json.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Tool } from "../../../../tool/tool.ts";
import { CODE_TOOL_NAMES, codeOf, codeTools } from "../../../meta-tools/code-tools.ts";
import { META_TOOL_NAMES, META_TOOLS, META_TOOLS_WITH_SKILLS } from "../../../meta-tools/definitions.ts";
import { fromToolName, toToolName } from "../../../meta-tools/shown-tool.ts";
import { sayConnecting, withConnecting } from "../../../startup.ts";
import { refusal, toCallResult } from "../../call-result.ts";
import { answerOf, runForClient, unknownTool, withoutConfirmation } from "../../client-call.ts";
import { fittedName, fittedTool, isFitted } from "../../client-quirks.ts";
import { askOf, canBeAsked, type Exchange } from "../../plane.ts";
import { pageOf } from "../listings.ts";
import { createRelay } from "../relay.ts";
import { rewriteUris } from "../resources/resource-uri.ts";
import { type AnswerParts, createRequestState } from "../upstream-request.ts";
import { callCodeTool } from "./answer-code.ts";
import { listedTool } from "./tool-entry.ts";

/**
 * Answers `tools/list`, in the same order for every caller. Waits for servers only if their tools are listed. Some clients also get the meta-tools to
 * reach further tools: clients that cannot take all tools, and clients that would never see the tools of servers that are still connecting.
 */
export async function listTools({ params, peer, signal }: Exchange, parts: AnswerParts): Promise<JsonObject> {
  const { mode, common, arsenal, startup } = parts;
  if (mode !== "dynamic") await startup.wait(signal);
  if (mode === "code") {
    const count = await (await codeOf(arsenal)).toolCount(peer.principal);
    return pageOf("tools", codeTools(count, parts.hasSkills()), params["cursor"]);
  }
  const tools = mode === "dynamic" ? [] : await arsenal.listTools({ principal: peer.principal });
  const shown = mode === "hybrid" ? tools.filter((tool) => common.includes(tool)) : tools;
  const quirks = parts.quirksOf(peer);
  const { maxTools = Infinity, listsOnce } = quirks;
  const connecting = mode === "dynamic" ? [] : startup.shown();
  const isShort = shown.length > maxTools || (listsOnce === true && connecting.length > 0);
  const listed = shown.map((tool) => fittedTool(listedTool(tool, peer.era), quirks));
  const metaTools = parts.hasSkills() ? META_TOOLS_WITH_SKILLS : META_TOOLS;
  const all: readonly object[] =
    mode === "static" && !isShort ? listed : [...metaTools, ...listed].slice(0, Math.max(maxTools, metaTools.length));
  return withConnecting(pageOf("tools", all, params["cursor"]), connecting);
}

const MAY_BE_THEIRS = "The tool may be theirs: try again in a few seconds.";

/** Runs a `tools/call` request. It can name a meta-tool of the mode, or any tool that the caller may see, even one that the mode does not list. */
export async function callNamed(exchange: Exchange, parts: AnswerParts): Promise<JsonObject> {
  const { params, peer, signal } = exchange;
  const { name, arguments: given } = params;
  if (typeof name !== "string") throw unknownTool(name);
  if (parts.mode === "code" && CODE_TOOL_NAMES.has(name)) return callCodeTool(name, exchange, parts);
  const quirks = parts.quirksOf(peer);
  const hasMetaTools = parts.mode !== "static" || quirks.maxTools !== undefined || quirks.listsOnce === true;
  if (hasMetaTools && META_TOOL_NAMES.has(name)) return callMetaTool(name, exchange, parts);
  // An invalid name is still called, as an unknown id, so that every call is recorded.
  const asked = (await fittedId(name, exchange, parts)) ?? fromToolName(name) ?? `.${name}`;
  if (given !== undefined && given !== null && !isPlainObject(given)) {
    const message = "arguments is not an object. Give an object with one member for each parameter.";
    throw new RpcError({ code: RPC.invalidParams, message });
  }
  await parts.metaTools.waitFor(name, { principal: peer.principal, signal });
  const called = await callTool(exchange, { toolName: asked, arguments: given ?? {} }, parts);
  if ("missing" in called) throw unknownTool(name, sayConnecting(parts.startup.shown(), MAY_BE_THEIRS));
  return called.answer;
}

/** Returns the id of a tool whose name was changed for this client. */
async function fittedId(
  name: string,
  { peer }: Exchange,
  { arsenal, quirksOf }: AnswerParts,
): Promise<string | undefined> {
  const quirks = quirksOf(peer);
  if (!isFitted(name, quirks)) return undefined;
  const tools = await arsenal.listTools({ principal: peer.principal });
  return tools.find(({ id }) => fittedName(toToolName(id), quirks) === name)?.id;
}

/**
 * Runs a meta-tool. Found tools are sent only as text, because some clients also show the structured content to the model, which would cost twice.
 */
async function callMetaTool(name: string, exchange: Exchange, parts: AnswerParts): Promise<JsonObject> {
  const { params, peer, signal, trace } = exchange;
  const caller = { principal: peer.principal, signal, ...(trace && { trace }) };
  const answer = await parts.metaTools.answer(name, params["arguments"], caller);
  switch (answer.kind) {
    case "found":
      return { content: [{ type: "text", text: JSON.stringify(answer.found) }] };
    case "invalid":
      return { content: [{ type: "text", text: answer.message }], isError: true };
    case "call": {
      const called = await callTool(exchange, answer, parts);
      if (!("missing" in called)) return called.answer;
      // The client called `execute_tool`, which exists, so the model gets a text that the tool inside does not exist.
      const connecting = parts.startup.shown();
      return withConnecting(refusal(called.missing, sayConnecting(connecting, MAY_BE_THEIRS)), connecting);
    }
  }
}

/** Runs one tool. An MCP server's answer is returned unchanged, except for its URIs. Returns `missing` if the client cannot see the tool. */
async function callTool(
  exchange: Exchange,
  target: { readonly toolName: string; readonly arguments: unknown },
  parts: AnswerParts,
): Promise<{ readonly answer: JsonObject } | { readonly missing: ToolResult }> {
  const { peer } = exchange;
  const { name: _, arguments: __, ...extra } = withoutConfirmation(exchange.params);
  const { toolName } = target;
  const args = target.arguments as ToolCall["arguments"] & object;
  const state = createRequestState(exchange, { tool: toolName, arguments: args }, parts);
  const relay = createRelay(exchange, parts.sessionLevel);
  const opened = followingTasks(state.open(extra));
  let tool: Tool | undefined;
  const result = await runForClient(
    exchange,
    parts.arsenal,
    { toolName, arguments: args, onProgress: relay.onProgress },
    {
      extra: opened,
      ...reusable(opened, askOf(exchange)),
      onNotification: relay.onNotification,
      canBeAsked: canBeAsked(peer),
      onFound: (found) => (tool = found),
    },
  );
  if (result.error?.code === "TOOL_NOT_FOUND" && result.toolId === undefined) return { missing: result };
  const answer = answerOf(result);
  if (answer === undefined) {
    const { status, result: value } = result;
    return { answer: status === "success" ? toCallResult(value, tool, peer.era) : refusal(result) };
  }
  if (isInputRequired(answer)) return { answer: peer.era === "modern" ? state.seal(answer) : cannotAsk() };
  return { answer: tool?.ensemble === undefined ? answer : rewriteUris(answer, tool.ensemble) };
}

/** Allows a server to turn any client's call into a task: the gateway follows the task, and the client gets the result. */
function followingTasks(extra: JsonObject): JsonObject {
  const { _meta: meta } = extra;
  const capabilities = isPlainObject(meta) ? meta[META.clientCapabilities] : undefined;
  if (!isPlainObject(meta) || !isPlainObject(capabilities)) return extra;
  const announced = withExtensions(capabilities, { [EXTENSIONS.tasks]: {} });
  return { ...extra, _meta: { ...meta, [META.clientCapabilities]: announced } };
}

/** Members of `_meta` that belong to one request and do not change its answer. */
const OF_ONE_REQUEST: ReadonlySet<string> = new Set(["progressToken", "traceparent", "tracestate", "baggage"]);

/**
 * Determines whether the server may send requests to the client, and whether its answer may be reused. An answer is not reused if the server sent a
 * request, or if the answer is a question or a task.
 */
function reusable(extra: JsonObject, { ask }: ReturnType<typeof askOf>): Pick<McpRequest, "ask" | "reuse"> {
  let asked = false;
  const noting = ask && { ask: ((...question) => ((asked = true), ask(...question))) satisfies Ask };
  const { _meta: meta, ...others } = extra;
  if (Object.keys(others).length > 0) return { ...noting };
  const key = (): string => {
    const kept = Object.entries(isPlainObject(meta) ? meta : {}).filter(([name]) => !OF_ONE_REQUEST.has(name));
    return canonicalJson(Object.fromEntries(kept));
  };
  const isFinal = (result: unknown): boolean =>
    !asked && isPlainObject(result) && (result["resultType"] ?? "complete") === "complete";
  return { ...noting, reuse: { key, isFinal } };
}

function cannotAsk(): JsonObject {
  const text =
    "The tool needs an answer from the user, but this client does not support questions. Use another tool, or tell the user.";
  return { content: [{ type: "text", text }], isError: true };
}
