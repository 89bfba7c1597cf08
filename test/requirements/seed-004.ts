import { covered, type Requirement } from "./requirement.ts";

/** The arsenal of an agent: MCP transports, resource controls, the text a model reads back. */
export const armaments: readonly Requirement[] = [
  ...covered({
    "004-mcp-debug": "Logs the protocol's messages where debugging is asked for.",
    "004-mcp-stdio": "Runs command-line MCP servers by command and arguments.",
    "004-mcp-sse": "Uses remote MCP servers by endpoint.",
    "004-mcp-reconnect": "Reconnects to a server that went away.",
    "004-mcp-json-rpc": "Speaks JSON-RPC 2.0 and negotiates what a server can do.",
    "004-mcp-content": "Reads text and other content of a result.",
    "004-mcp-auth": "Authenticates to a server with a token from the environment.",
    "004-mcp-example-servers": "Works with the example servers over stdio and HTTP.",
    "004-agent-detect": "Detects function_call in a model's response, with arguments as a string.",
    "004-config-timeout": "Takes default_timeout_seconds of the arsenal block as the timeout of every call.",
    "004-config-concurrency": "Takes max_concurrent_tools of the arsenal block as the number of calls at once.",
    "004-config-servers": "Takes mcp_servers of the arsenal block, stdio and sse, as MCP servers.",
    "004-control-limit":
      "Limits how many calls run at once. The seed's default is 5; ours is 256, because a gateway serves many clients.",
    "004-control-fifo": "Queues calls over the limit and admits them in the order they came.",
    "004-control-per-ensemble": "Limits the calls at once of one ensemble too.",
    "004-control-release": "Frees a permit however its call ends.",
    "004-errors-not-found": "Answers a call to a tool that is not registered with TOOL_NOT_FOUND.",
    "004-errors-protocol": "Keeps PROTOCOL_ERROR of a handler whose server answered nonsense.",
    "004-format-success": "Formats a result for the model: tool, arguments, output, execution time.",
    "004-format-failure": "Formats a failure for the model: tool, arguments, error, time and what to do.",
    "004-agent-build": "Builds an agent from a model, a system prompt and a name.",
    "004-agent-loop": "Runs the model's calls and continues with their results.",
    "004-agent-errors": "Gives the model its failed calls to read, and goes on.",
  }),
];
