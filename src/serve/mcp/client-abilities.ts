import { type Era, type JsonObject, RPC, RpcError } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";

/** The capability that a client must declare for each kind of request. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
  ["roots/list", "roots"],
]);

/**
 * Returns the reason why a client cannot get a request; undefined if it can. Modern clients get only requests that fit into an `input_required`
 * result.
 */
export function unaskable(
  method: string,
  params: JsonObject | undefined,
  { era, capabilities }: { readonly era: Era; readonly capabilities: JsonObject },
): RpcError | undefined {
  const needed = NEEDED.get(method);
  if (needed === undefined) {
    if (era === "legacy") return undefined;
    const message = `This revision does not support ${method} requests to a client.`;
    return new RpcError({ code: RPC.methodNotFound, message });
  }
  const declared = Object.hasOwn(capabilities, needed) ? capabilities[needed] : undefined;
  const isUrl = needed === "elicitation" && params?.["mode"] === "url";
  if (isPlainObject(declared) && (!isUrl || isPlainObject(declared["url"]))) return undefined;
  const missing = isPlainObject(declared) ? `${needed}.url` : needed;
  const message = `The client did not declare the capability ${missing}, so ${method} cannot be sent to it.`;
  if (era === "legacy") return new RpcError({ code: RPC.methodNotFound, message });
  const requiredCapabilities = { [needed]: isPlainObject(declared) ? { url: {} } : {} };
  return new RpcError({ code: RPC.missingClientCapability, message, data: { requiredCapabilities } });
}
