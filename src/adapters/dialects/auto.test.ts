import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { AIMessage } from "@langchain/core/messages";
import { Mistral } from "@mistralai/mistralai";
import { Client } from "@modelcontextprotocol/client";
import { CohereClientV2 } from "cohere-ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { inferDialect } from "./auto.ts";
import { DIALECT_NAMES, toDialect } from "./built-in.ts";
import { geminiDialect } from "./gemini/gemini.ts";

const apiKey = "none";

describe("inferDialect", () => {
  it.each([
    ["openai", new OpenAI({ apiKey })],
    ["anthropic", new Anthropic({ apiKey })],
    ["gemini", new GoogleGenAI({ apiKey })],
    ["mistral", new Mistral({ apiKey })],
    ["cohere", new CohereClientV2({ token: apiKey })],
    ["ollama", new Ollama({ host: "http://127.0.0.1:1" })],
    ["bedrock", new BedrockRuntimeClient({ region: "eu-west-1" })],
    ["mcp", new Client({ name: "x", version: "1" })],
    ["langchain", new AIMessage("hello")],
    ["ai-sdk", { specificationVersion: "v3", provider: "openai", modelId: "gpt-5", doGenerate: () => {} }],
  ] as const)("knows %s by its client or model object [000-4.1-auto]", (name, client) => {
    expect(inferDialect(client)).toBe(name);
  });

  it.each([
    ["gpt-5.1", "openai"],
    ["o4-mini", "openai"],
    ["openai/gpt-4o", "openai"],
    ["claude-sonnet-4-5", "anthropic"],
    ["anthropic/claude-opus-4", "anthropic"],
    ["us.anthropic.claude-sonnet-4-20250514-v1:0", "bedrock"],
    ["amazon.nova-pro-v1:0", "bedrock"],
    ["gemini-2.5-pro", "gemini"],
    ["models/gemini-2.0-flash", "gemini"],
    ["mistral-large-latest", "mistral"],
    ["codestral-2508", "mistral"],
    ["command-a-03-2025", "cohere"],
  ])("knows the model %s as %s", (model, name) => {
    expect(inferDialect(model)).toBe(name);
  });

  // Definitions of these are OpenAI's, letter by letter.
  const LIKE_OPENAI: readonly string[] = ["mistral", "cohere", "ollama"];

  it.each(DIALECT_NAMES)("knows a definition of %s, or of what it was taken from", async (name) => {
    const dialect = await toDialect(name);
    expect(inferDialect(dialect.fromCanonical(refundUser()))).toBe(LIKE_OPENAI.includes(name) ? "openai" : name);
    expect(inferDialect(geminiDialect({ schema: "parameters" }).fromCanonical(refundUser()))).toBe("gemini");
  });

  it.each([
    ["openai", { object: "chat.completion", choices: [] }],
    ["openai-responses", { object: "response", output: [] }],
    ["anthropic", { type: "message", content: [] }],
    ["gemini", { candidates: [] }],
    ["bedrock", { output: { message: { content: [] } }, stopReason: "end_turn" }],
    ["cohere", { id: "x", finish_reason: "COMPLETE", message: { role: "assistant" } }],
    ["ollama", { model: "qwen3", message: { role: "assistant" }, done: true }],
    ["mistral", { choices: [{ finishReason: "stop", message: { content: "hi" } }] }],
    ["ai-sdk", { content: [{ type: "tool-call", toolCallId: "a", toolName: "b", input: "{}" }] }],
    ["mcp", { method: "tools/call", params: { name: "x" } }],
  ])("knows an answer of %s", (name, answer) => {
    expect(inferDialect(answer)).toBe(name);
  });

  it.each([
    [undefined, "neither a model's name nor an object"],
    [7, "neither a model's name nor an object"],
    ["llama-3.3-70b", 'the model name "llama-3.3-70b"'],
    [{}, "an object with no members"],
    [{ foo: 1, bar: 2 }, "an object with the members foo, bar"],
    [new Date(0), "a Date with no members"],
  ])("is not sure of %j and says what it saw", (hint, saw) => {
    expect(() => inferDialect(hint)).toThrow(`The dialect cannot be inferred from the hint: ${saw}.`);
  });
});

describe("toDialect", () => {
  it("takes a name, a dialect of your own, or auto with a hint", async () => {
    const own = geminiDialect({ schema: "parameters" });
    expect((await toDialect("ai-sdk")).name).toBe("ai-sdk");
    expect(await toDialect(own)).toBe(own);
    expect(await toDialect("auto", "claude-sonnet-4-5")).toBe(await toDialect("anthropic"));
    await expect(toDialect("auto")).rejects.toThrow(/cannot be inferred/);
  });

  it("names every dialect as the dialect names itself", async () => {
    const named = await Promise.all(DIALECT_NAMES.map((name) => toDialect(name)));
    expect(named.map(({ name }) => name)).toEqual(DIALECT_NAMES);
  });

  it("refuses an unknown dialect [003-adapter-unknown]", async () => {
    await expect(toDialect("antropic" as "anthropic")).rejects.toThrow(
      'dialect is "antropic", which is not a dialect. Use anthropic',
    );
    await expect(toDialect({} as never)).rejects.toThrow("one of openai, openai-responses, anthropic, gemini");
  });
});
