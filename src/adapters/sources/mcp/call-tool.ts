import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Handler, HandlerContext } from "../../../tool/handler.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { type McpCallContext, mcpContextOf } from "./call-context.ts";
import { readParamHeaders, toParamHeaders } from "./param-headers.ts";
import { isInputRequired, type JsonObject, RPC, RpcError, type RpcNotification } from "./protocol.ts";
import type { McpUpstream } from "./upstream.ts";

/** Runs one of a server's tools on that server, and returns its result as it is. */
export function createHandler(tool: JsonObject, upstream: McpUpstream): Handler {
  const marks = readParamHeaders(tool["inputSchema"]);
  const mirrored = "headers" in marks && marks.headers.length > 0 ? marks.headers : undefined;

  return async (args, context) => {
    const call = mcpContextOf(context.auxdata) ?? NO_CONTEXT;
    const { connection, extra, ask, passInputRequired, onAnswer } = call;
    const headers = mirrored ? { ...call.headers, ...toParamHeaders(mirrored, args) } : call.headers;
    const options = {
      signal: context.signal,
      onNotification: call.onNotification ?? toProgress(context),
      ...(headers === undefined ? {} : { headers }),
    };
    const params = {
      ...(call.onNotification === undefined ? askingForProgress(extra) : extra),
      name: context.tool.sourceName,
      arguments: args,
    };
    let result: JsonObject;
    try {
      result = await (connection === undefined
        ? upstream.request("tools/call", params, {
            ...options,
            ...(ask === undefined ? {} : { ask }),
            ...(passInputRequired === undefined ? {} : { passInputRequired }),
          })
        : connection.request("tools/call", params, options));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      onAnswer?.({ error });
      throw toRefusal(error, upstream.name, context.tool.sourceName);
    }
    onAnswer?.({ result });
    if (isInputRequired(result) && passInputRequired !== true && connection === undefined)
      throw needsInput(upstream.name);
    if (result["isError"] === true) throw toReported(result);
    return result;
  };
}

const NO_CONTEXT: McpCallContext = Object.freeze({});

/** A caller who hears no notifications gets progress as any tool's: a server reports it where it is given a token. */
function askingForProgress(extra: JsonObject | undefined): JsonObject {
  const meta = extra?.["_meta"];
  return { ...extra, _meta: { progressToken: "progress", ...(isPlainObject(meta) ? meta : {}) } };
}

function toProgress(context: HandlerContext): (notification: RpcNotification) => void {
  return ({ method, params }) => {
    if (method !== "notifications/progress" || typeof params?.["progress"] !== "number") return;
    const { progress, total, message } = params;
    context.progress({
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
  };
}

/** An error the tool itself reported, in its own words. */
function toReported(result: JsonObject): ArsenalError {
  const content = Array.isArray(result["content"]) ? (result["content"] as readonly unknown[]) : [];
  const texts = content.flatMap((part) =>
    isPlainObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  const message = texts.length > 0 ? texts.join("\n") : "The tool reported an error without saying which.";
  return new ArsenalError("EXECUTION_FAILED", message, { answered: true });
}

/** An error the server answered with, in its own words and with its code. */
function toRefusal(cause: RpcError, server: string, tool: string): ArsenalError {
  const code = cause.code === RPC.invalidParams ? "ARGUMENTS_INVALID" : "PROTOCOL_ERROR";
  const message = `The MCP server "${server}" refused ${tool} with error ${cause.code}: ${cause.message}`;
  return new ArsenalError(code, message, { answered: true, cause });
}

function needsInput(server: string): ArsenalError {
  const message = `The MCP server "${server}" asks for input before it runs the tool, and this caller answers no questions.`;
  return new ArsenalError("EXECUTION_FAILED", message, {
    fix: "Call it from a client that supports elicitation.",
    answered: true,
  });
}
