/**
 * Type assertions: what dialects write is what the providers' own libraries take. This file is right where it compiles; each
 * `@ts-expect-error` is a control that would fail if a library's type took anything.
 */
import type Anthropic from "@anthropic-ai/sdk";
import type * as Bedrock from "@aws-sdk/client-bedrock-runtime";
import type * as Google from "@google/genai";
import type { BaseMessageLike, ToolMessageFields } from "@langchain/core/messages";
import type { StructuredToolParams } from "@langchain/core/tools";
import type * as Mistral from "@mistralai/mistralai/models/components";
import type * as Mcp from "@modelcontextprotocol/client";
import type { LanguageModelMiddleware, ToolModelMessage } from "ai";
import type { Cohere } from "cohere-ai";
import type * as Ollama from "ollama";
import type OpenAI from "openai";
import type { AiSdkTool, AiSdkToolMessage } from "../../src/adapters/dialects/ai-sdk.ts";
import type { AnthropicResults, AnthropicSearchedTool, AnthropicTool } from "../../src/adapters/dialects/anthropic.ts";
import type { BedrockResults, BedrockTool } from "../../src/adapters/dialects/bedrock.ts";
import type { CohereTool, CohereToolMessage } from "../../src/adapters/dialects/cohere.ts";
import type { GeminiResults, GeminiTool } from "../../src/adapters/dialects/gemini/gemini.ts";
import type { LangChainTool, LangChainToolMessage } from "../../src/adapters/dialects/langchain.ts";
import type { McpTool, McpToolResult } from "../../src/adapters/dialects/mcp.ts";
import type { MistralTool, MistralToolMessage } from "../../src/adapters/dialects/mistral.ts";
import type { OllamaTool, OllamaToolMessage } from "../../src/adapters/dialects/ollama.ts";
import type { OpenAiTool, OpenAiToolMessage } from "../../src/adapters/dialects/openai/openai.ts";
import type {
  ResponsesSearchedTool,
  ResponsesTool,
  ResponsesToolOutput,
} from "../../src/adapters/dialects/openai/openai-responses.ts";
import { geminiDialect } from "../../src/adapters/dialects/gemini/gemini.ts";
import { openaiDialect } from "../../src/adapters/dialects/openai/openai.ts";
import type { Tool } from "../../src/tool/tool.ts";

declare function takes<Theirs>(): <Ours extends Theirs>(ours: Ours) => void;
declare function a<Value>(): Value;

/** A tool as the AI SDK's models take it: the library exports the type only within others. */
type ModelOptions = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type AiSdkFunctionTool = Extract<NonNullable<ModelOptions["tools"]>[number], { readonly type: "function" }>;

/** An enum of a library is a type of its own; JSON has only its texts. */
type AsJson<Value> = Value extends string
  ? `${Value}`
  : Value extends object
    ? { [Key in keyof Value]: AsJson<Value[Key]> }
    : Value;

/** Never run. */
export function definitions(tool: Tool): void {
  takes<OpenAI.ChatCompletionFunctionTool>()(a<OpenAiTool>());
  takes<OpenAI.Responses.FunctionTool>()(a<ResponsesTool>());
  takes<Anthropic.Tool>()(a<AnthropicTool>());
  takes<Anthropic.ToolUnion>()(a<AnthropicSearchedTool>());
  takes<OpenAI.Responses.Tool>()(a<ResponsesSearchedTool>());
  takes<AsJson<Google.FunctionDeclaration>>()(a<GeminiTool>());
  takes<Mcp.Tool>()(a<McpTool>());
  takes<StructuredToolParams>()(a<LangChainTool>());
  takes<AiSdkFunctionTool>()(a<AiSdkTool>());
  takes<Bedrock.Tool>()(a<BedrockTool>());
  takes<Mistral.Tool>()(a<MistralTool>());
  takes<Cohere.ToolV2>()(a<CohereTool>());
  takes<Ollama.Tool>()(a<OllamaTool>());

  // What a dialect writes has the type of its own, and needs no cast.
  takes<OpenAI.ChatCompletionTool>()(openaiDialect().fromCanonical(tool));
  takes<AsJson<Google.FunctionDeclaration>>()(geminiDialect({ schema: "parameters" }).convert(tool).definition);

  // @ts-expect-error another provider's definition
  takes<OpenAI.ChatCompletionFunctionTool>()(a<AnthropicTool>());
  // @ts-expect-error Chat Completions has the function one level deeper
  takes<OpenAI.Responses.FunctionTool>()(a<OpenAiTool>());
  // @ts-expect-error another provider's definition
  takes<Anthropic.Tool>()(a<McpTool>());
  // @ts-expect-error a schema must be an object's
  takes<Anthropic.Tool>()(a<Omit<AnthropicTool, "input_schema"> & { input_schema: { type: "string" } }>());
  // @ts-expect-error types are written in capitals
  takes<AsJson<Google.FunctionDeclaration>>()(a<{ name: string; parameters: { type: "object" } }>());
  // @ts-expect-error counts are texts
  takes<AsJson<Google.FunctionDeclaration>>()(a<{ name: string; parameters: { type: "ARRAY"; maxItems: number } }>());
  // @ts-expect-error another provider's definition
  takes<Mcp.Tool>()(a<AnthropicTool>());
  // @ts-expect-error another provider's definition
  takes<StructuredToolParams>()(a<AnthropicTool>());
  // @ts-expect-error another provider's definition
  takes<AiSdkFunctionTool>()(a<ResponsesTool>());
  // @ts-expect-error another provider's definition
  takes<Bedrock.Tool>()(a<AnthropicTool>());
  // @ts-expect-error another provider's definition
  takes<Mistral.Tool>()(a<ResponsesTool>());
  // @ts-expect-error a function has a name
  takes<Cohere.ToolV2>()(a<{ type: "function"; function: { parameters: Record<string, unknown> } }>());
  // @ts-expect-error another provider's definition
  takes<Ollama.Tool>()(a<AnthropicTool>());
}

/** Never run. */
export function results(): void {
  takes<OpenAI.ChatCompletionToolMessageParam | OpenAI.ChatCompletionFunctionMessageParam>()(a<OpenAiToolMessage>());
  takes<OpenAI.Responses.ResponseInputItem.FunctionCallOutput>()(a<ResponsesToolOutput>());
  takes<Anthropic.MessageParam>()(a<AnthropicResults>());
  takes<Google.Content>()(a<GeminiResults>());
  takes<Mcp.CallToolResult>()(a<McpToolResult>());
  takes<BaseMessageLike>()(a<LangChainToolMessage>());
  takes<ToolMessageFields>()(a<LangChainToolMessage>());
  takes<ToolModelMessage>()(a<AiSdkToolMessage>());
  takes<Bedrock.Message>()(a<BedrockResults>());
  takes<Mistral.ToolMessage & { role: "tool" }>()(a<MistralToolMessage>());
  takes<Cohere.ChatMessageV2>()(a<CohereToolMessage>());
  takes<Ollama.Message>()(a<OllamaToolMessage>());

  // @ts-expect-error another provider's results
  takes<OpenAI.ChatCompletionToolMessageParam>()(a<MistralToolMessage>());
  // @ts-expect-error another provider's results
  takes<OpenAI.Responses.ResponseInputItem.FunctionCallOutput>()(a<OpenAiToolMessage>());
  // @ts-expect-error another provider's results
  takes<Anthropic.MessageParam>()(a<OpenAiToolMessage>());
  // @ts-expect-error another provider's results
  takes<Google.Content>()(a<BedrockResults["content"]>());
  // @ts-expect-error another provider's results
  takes<Mcp.CallToolResult>()(a<AnthropicResults>());
  // @ts-expect-error another provider's results
  takes<ToolMessageFields>()(a<AiSdkToolMessage>());
  // @ts-expect-error another provider's results
  takes<ToolModelMessage>()(a<OpenAiToolMessage>());
  // @ts-expect-error another provider's results
  takes<Bedrock.Message>()(a<AnthropicResults>());
  // @ts-expect-error another provider's results
  takes<Mistral.ToolMessage>()(a<AnthropicResults>());
  // @ts-expect-error another provider's results
  takes<Cohere.ChatMessageV2>()(a<OpenAiToolMessage>());
  // @ts-expect-error a message has a text
  takes<Ollama.Message>()(a<Omit<OllamaToolMessage, "content">>());
}
