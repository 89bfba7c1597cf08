import { type Era, type JsonObject, RPC, RpcError } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";

/** The capability a client must have declared to be asked something; `at` is its path in `capabilities`. */
interface Requirement {
  readonly at: readonly string[];
  readonly when?: (params: JsonObject) => boolean;
}

const REQUIREMENTS: Readonly<Record<string, readonly Requirement[]>> = {
  "elicitation/create": [
    { at: ["elicitation"] },
    { at: ["elicitation", "url"], when: (params) => params["mode"] === "url" },
  ],
  "sampling/createMessage": [{ at: ["sampling"] }],
  "roots/list": [{ at: ["roots"] }],
};

/**
 * Why a client cannot be asked something, as the error its asker gets; undefined if it can. A legacy client may be asked more than the
 * protocol knows, a modern one only what an `input_required` result may hold.
 */
export function unaskable(
  method: string,
  params: JsonObject | undefined,
  client: { readonly era: Era; readonly capabilities: JsonObject },
): RpcError | undefined {
  const requirements = Object.hasOwn(REQUIREMENTS, method) ? REQUIREMENTS[method] : undefined;
  if (requirements === undefined) {
    if (client.era === "legacy") return undefined;
    return new RpcError({
      code: RPC.methodNotFound,
      message: `A client cannot be asked for ${method} in this revision.`,
    });
  }
  const missing = requirements.find(
    ({ at, when }) => (when === undefined || when(params ?? {})) && !declares(client.capabilities, at),
  );
  if (missing === undefined) return undefined;
  const message = `The client did not declare the capability ${missing.at.join(".")}, so it cannot be asked for ${method}.`;
  if (client.era === "legacy") return new RpcError({ code: RPC.methodNotFound, message });
  const requiredCapabilities = missing.at.reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), {});
  return new RpcError({ code: RPC.missingClientCapability, message, data: { requiredCapabilities } });
}

function declares(capabilities: JsonObject, at: readonly string[]): boolean {
  let part: unknown = capabilities;
  for (const key of at) part = isPlainObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
  return isPlainObject(part);
}
