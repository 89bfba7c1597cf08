export type { AgentEvent, AgentResult, AgentRun, NeededApproval, OfferedTool, RunStatus } from "./agent-run.ts";
export { type Agent, type AgentOptions, createAgent, type FollowOptions, type RunOptions } from "./create-agent.ts";
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
export type { AgentArsenal } from "./offer-tools.ts";
export type { OpenCall, OpenStep, SavedRun } from "./saved-run.ts";
