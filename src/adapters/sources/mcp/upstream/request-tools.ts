import { fixable } from "../../../../errors/arsenal-error.ts";
import type { Registration } from "../../../../register/registry.ts";
import { assembleTool, type Capability, type Tool } from "../../../../tool/tool.ts";
import type { Handler, HandlerContext } from "../../../../tool/handler.ts";
import { isPlainObject, type JsonSchema } from "../../../../tool/json-schema.ts";
import { normaliseTool } from "../../../../tool/normalise/normalise-tool.ts";
import { toNamespace } from "../../../../tool/normalise/slug.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import { answered, callOf, sendRequest, type ServerRequest } from "../connection/send-request.ts";
import type { McpServerSettings } from "../settings.ts";
import type { McpUpstream } from "./upstream.ts";

/** Requests of a server besides `tools/call`. The guard treats each as a tool. Each is called by its id, such as `files.resources/read`. */
export type RequestTool = "resources/read" | "prompts/get" | "mcp/request";

type Server = Pick<McpServerSettings, "name" | "namespace">;

/** Returns the id of a server's request tool. The id includes the server's name if its namespace differs, because servers may share a namespace. */
export function requestToolId({ name, namespace = name }: Server, request: RequestTool | "tools/call"): string {
  const plain = toNamespace(namespace);
  return `${plain}.${ownName(plain, name, request)}`;
}

/** Returns the prefix of ids that find a tool by the server's own name: `files.tools/call/`. It also finds hidden tools, so their calls are recorded. */
export function ownToolPrefix(server: Server): string {
  return `${requestToolId(server, "tools/call")}/`;
}

/** Creates the request tools of one server, by id. They can access everything that the server's tools can. */
export function createRequestTools(
  upstream: McpUpstream,
  capabilities: readonly Capability[] = [],
): ReadonlyMap<string, Required<Registration>> {
  const tools = (Object.keys(DEFINITIONS) as RequestTool[]).map((request) => ({
    tool: toTool(request, upstream.settings, capabilities),
    handler: DEFINITIONS[request].handler(upstream),
  }));
  return new Map(tools.map((registration) => [registration.tool.id, registration]));
}

interface Definition {
  readonly description: (server: string) => string;
  readonly parameters: JsonSchema;
  readonly handler: (upstream: McpUpstream) => Handler;
}

const TEXT = { type: "string" } as const;
/** Members that turn a read or a get into a completion of one of its arguments. */
const COMPLETED = {
  argument: { type: "object", description: "The argument to complete: its name and what is typed of its value." },
  context: { type: "object", description: "The arguments given so far." },
} as const;

const DEFINITIONS: Readonly<Record<RequestTool, Definition>> = {
  "resources/read": {
    description: (server) => `Reads a resource of the MCP server ${server}.`,
    parameters: {
      type: "object",
      properties: {
        uri: { ...TEXT, description: "The resource, by the server's own URI." },
        part: {
          enum: ["skill", "directory"],
          description: "The entry of a skill, or the list of a directory, instead of the content.",
        },
        subscribe: { type: "boolean", description: "True to be notified of its changes instead." },
        ...COMPLETED,
      },
      required: ["uri"],
    },
    handler: (upstream) => async (args, context) => {
      const { uri, subscribe, argument, part } = args;
      const listed = part === "skill" ? "skills/get" : part === "directory" ? "resources/directory/read" : undefined;
      if (listed !== undefined)
        return sendRequest(upstream, { method: listed, params: { uri }, subject: "a skill" }, context);
      if (argument !== undefined) return complete(upstream, { type: "ref/resource", uri }, args, context);
      if (subscribe === true) return subscribeTo(upstream, uri, context);
      return sendRequest(upstream, { method: "resources/read", params: { uri }, subject: "a resource" }, context);
    },
  },
  "prompts/get": {
    description: (server) => `Gets a prompt of the MCP server ${server}.`,
    parameters: {
      type: "object",
      properties: { name: TEXT, arguments: { type: "object" }, ...COMPLETED },
      required: ["name"],
    },
    handler: (upstream) => async (args, context) => {
      const { name, argument } = args;
      if (argument !== undefined) return complete(upstream, { type: "ref/prompt", name }, args, context);
      return sendRequest(upstream, { method: "prompts/get", params: args, subject: "a prompt" }, context);
    },
  },
  "mcp/request": {
    description: (server) => `Makes a request of the MCP server ${server} that this program does not know.`,
    parameters: {
      type: "object",
      properties: { method: TEXT, params: { type: "object" } },
      required: ["method"],
    },
    handler: (upstream) => async (args, context) => {
      const { method, params } = args;
      if (typeof method !== "string" || isKnown(method)) {
        const fix = "Call the tool, read the resource or get the prompt by its own id.";
        const problem = `mcp/request does not make the request ${String(method)}.`;
        throw fixable("ARGUMENTS_INVALID", problem, fix, { field: "method", value: method });
      }
      return sendRequest(upstream, { method, params: isPlainObject(params) ? params : {}, subject: method }, context);
    },
  },
};

/** True for a known method. Unknown methods have other rules, which a known method must not use. */
export function isKnown(method: string): boolean {
  // Also matches other spellings, which a lenient server may accept.
  return /^\s*(?:(?:tools|resources|prompts|completion|server|subscriptions|logging|notifications|tasks|skills)\/|(?:initialize|ping)\s*$)/i.test(
    method,
  );
}

function complete(
  upstream: McpUpstream,
  ref: JsonObject,
  { argument, context: given }: JsonObject,
  context: HandlerContext,
): Promise<JsonObject> {
  const call = callOf(context);
  const { ref: asked } = call.method === "completion/complete" ? (call.extra ?? {}) : {};
  const params = {
    ref: { ...(isPlainObject(asked) ? asked : {}), ...ref },
    argument,
    ...(given !== undefined && { context: given }),
  };
  return sendRequest(upstream, { method: "completion/complete", params, subject: "a completion" }, context);
}

/** Subscribes until the caller's signal fires: on the caller's own connection if there is one, otherwise through the upstream's shared subscription. */
async function subscribeTo(upstream: McpUpstream, uri: unknown, context: HandlerContext): Promise<JsonObject> {
  const { connection, until } = callOf(context);
  const request: ServerRequest = { method: "resources/subscribe", params: { uri }, subject: "a subscription" };
  if (connection !== undefined) return sendRequest(upstream, request, context);
  if (until === undefined || typeof uri !== "string") {
    const fix = "Subscribe from an MCP client.";
    throw fixable("ARGUMENTS_INVALID", "No client would be notified of the changes.", fix, { field: "subscribe" });
  }
  return answered(upstream, request, context, async () => {
    await upstream.subscribe(uri, { signal: until });
    return {};
  });
}

function toTool(
  request: RequestTool,
  { name, namespace = name, transport }: McpServerSettings,
  capabilities: readonly Capability[],
): Tool {
  const { description, parameters } = DEFINITIONS[request];
  const draft = {
    name: request,
    sourceName: request,
    description: description(name),
    parameters,
    ...(transport.kind !== "stdio" && { sourceUri: new URL(transport.url).origin }),
  };
  const plain = toNamespace(namespace);
  const from = { source: "mcp", namespace: plain, capabilities, ensemble: name, createdAt: 0 } as const;
  const { id: _id, contentHash: _hash, createdAt, ...fields } = normaliseTool(draft, from);
  return assembleTool({ ...fields, namespace: plain, name: ownName(plain, name, request) }, createdAt);
}

function ownName(namespace: string, server: string, request: RequestTool | "tools/call"): string {
  return namespace === server ? request : `${server}/${request}`;
}
