import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Handler } from "../../../../tool/handler.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { readParamHeaders, toParamHeaders } from "../../../../mcp/param-headers.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import { callOf, sendRequest } from "../connection/send-request.ts";
import type { McpUpstream } from "./upstream.ts";

/** Runs one of a server's tools on that server, and returns its result as it is. */
export function createHandler(tool: JsonObject, upstream: McpUpstream): Handler {
  const marks = readParamHeaders(tool["inputSchema"]);
  const mirrored = "headers" in marks && marks.headers.length > 0 ? marks.headers : undefined;

  return async (args, context) => {
    const { sourceName } = context.tool;
    const headers = mirrored ? { ...callOf(context).headers, ...toParamHeaders(mirrored, args) } : undefined;
    const request = {
      method: "tools/call",
      params: { name: sourceName, arguments: args },
      headers,
      subject: sourceName,
    };
    const result = await sendRequest(upstream, request, context);
    if (result["isError"] === true) throw toReported(result);
    return result;
  };
}

/** An error the tool itself reported, in its own words. */
function toReported(result: JsonObject): ArsenalError {
  const content = Array.isArray(result["content"]) ? (result["content"] as readonly unknown[]) : [];
  const texts = content.flatMap((part) =>
    isPlainObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  const message = texts.length > 0 ? texts.join("\n") : "The tool reported an error without saying which.";
  return new ArsenalError("EXECUTION_FAILED", message, { answered: true, cause: result });
}
