export {
  MCPConnectionError,
  ToolAuthorizationError,
  ToolExecutionError,
  ToolNotFoundError,
  ToolServiceError,
  ToolTimeoutError,
  ToolValidationError,
} from "./errors.ts";
export { EventBus, EventBusLive, type ToolEvent } from "./event-bus.ts";
export { IdentityService, IdentityServiceLive, type AuditEntry } from "./identity-service.ts";
export {
  FunctionCallingToolSchema,
  MCPRequestSchema,
  MCPResponseSchema,
  MCPServerSchema,
  ToolDefinitionSchema,
  ToolInputSchema,
  ToolOutputSchema,
  ToolParameterSchema,
  type FunctionCallingTool,
  type MCPRequest,
  type MCPResponse,
  type MCPServer,
  type MCPServerConfig,
  type ToolDefinition,
  type ToolInput,
  type ToolOutput,
  type ToolParameter,
} from "./schemas.ts";
export { ToolService, type EffectHandler, type SeenBy, type ToolListFilter } from "./tool-service.ts";
export { ToolServiceLive, toolServiceFrom, toolServiceFromConfig } from "./tool-service-live.ts";
