/** The parts of the Claude Agent SDK that the integration uses. Users compile against the SDK itself. */
declare module "@anthropic-ai/claude-agent-sdk" {
  import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";

  export type PermissionResult =
    | { behavior: "allow"; updatedInput?: Record<string, unknown> }
    | { behavior: "deny"; message: string };

  export type CanUseTool = (
    toolName: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; toolUseID: string },
  ) => Promise<PermissionResult | null>;

  export type HookInput =
    | { hook_event_name: "UserPromptSubmit"; prompt: string }
    | { hook_event_name: "Stop" }
    | { hook_event_name: "PreToolUse"; tool_name: string; tool_input: unknown; tool_use_id: string }
    | {
        hook_event_name: "PostToolBatch";
        tool_calls: { tool_name: string; tool_input: unknown; tool_use_id: string; tool_response?: unknown }[];
      };

  export interface HookCallbackMatcher {
    hooks: ((
      input: HookInput,
      toolUseId: string | undefined,
      options: { signal: AbortSignal },
    ) => Promise<{
      hookSpecificOutput?: {
        hookEventName: "PreToolUse";
        permissionDecision: "defer";
        permissionDecisionReason: string;
      };
    }>)[];
  }

  export interface McpSdkServerConfigWithInstance {
    type: "sdk";
    name: string;
    instance: McpServer;
  }

  export function createSdkMcpServer(options: { name: string; alwaysLoad?: boolean }): McpSdkServerConfigWithInstance;

  export interface Options {
    mcpServers?: Record<string, McpSdkServerConfigWithInstance>;
    canUseTool?: CanUseTool;
    hooks?: Partial<Record<HookInput["hook_event_name"], HookCallbackMatcher[]>>;
  }

  export interface SDKDeferredToolUse {
    id: string;
    name: string;
    input: Record<string, unknown>;
  }

  export interface SdkMcpToolDefinition {
    name: string;
    description: string;
    inputSchema: object;
    handler(args: never, extra: unknown): Promise<object>;
  }
}
