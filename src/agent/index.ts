export type {
  AgentMessage,
  AssistantMessage,
  Llm,
  LlmRequest,
  LlmTurn,
  TokenUsage,
  ToolMessage,
  UserMessage,
} from "./llm.port.ts";
