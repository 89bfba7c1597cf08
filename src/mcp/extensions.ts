import { isPlainObject } from "../tool/json-schema.ts";
import { type JsonObject, RPC, RpcError } from "./protocol.ts";

/** The extensions that this program serves. */
export const EXTENSIONS = {
  tasks: "io.modelcontextprotocol/tasks",
  /** MCP Apps: tools and resources with a user interface. */
  apps: "io.modelcontextprotocol/ui",
  skills: "io.modelcontextprotocol/skills",
} as const;

/** Interface types that servers may offer. Every client that announces apps can show them. */
export const APP_SETTINGS = { mimeTypes: ["text/html;profile=mcp-app"] };

export function announces(capabilities: JsonObject, extension: string): boolean {
  const { extensions } = capabilities;
  return isPlainObject(extensions) && Object.hasOwn(extensions, extension) && isPlainObject(extensions[extension]);
}

export function withExtensions(capabilities: JsonObject, added: JsonObject): JsonObject {
  const { extensions } = capabilities;
  return { ...capabilities, extensions: { ...(isPlainObject(extensions) ? extensions : {}), ...added } };
}

/** Returns the error for a request that needs an extension which the client did not announce. */
export function missingExtension(extension: string): RpcError {
  return new RpcError({
    code: RPC.missingClientCapability,
    message: `This request needs the extension ${extension}. Announce it in the client's capabilities.`,
    data: { requiredCapabilities: { extensions: { [extension]: {} } } },
  });
}
