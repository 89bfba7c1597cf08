/** The other clients, and dialects of one's own. Compiled, never run. */
import type { ConverseCommandInput } from "@aws-sdk/client-bedrock-runtime";
import type { Mistral } from "@mistralai/mistralai";
import type { ListToolsResult } from "@modelcontextprotocol/client";
import type { CohereClientV2 } from "cohere-ai";
import type { Ollama } from "ollama";
import { type RetrieveToolsOptions, ToolArsenal } from "../../../src/index.ts";
import type { Dialect } from "../../../src/adapters/dialects/index.ts";

const arsenal = new ToolArsenal();

export async function clients(mistral: Mistral, cohere: CohereClientV2, ollama: Ollama): Promise<unknown> {
  const messages = [{ role: "user" as const, content: "Refund order 1042." }];
  const mistralTools = await arsenal.retrieveTools("refund", { dialect: "mistral" });
  await mistral.chat.complete({ model: "mistral-large", messages, tools: mistralTools });
  const cohereTools = await arsenal.retrieveTools("refund", { dialect: "cohere" });
  await cohere.chat({ model: "command-a", messages, tools: cohereTools });
  const ollamaTools = await arsenal.retrieveTools("refund", { dialect: "ollama" });
  await ollama.chat({ model: "llama4", messages, tools: ollamaTools });
  const bedrock: ConverseCommandInput["toolConfig"] = {
    tools: await arsenal.retrieveTools("refund", { dialect: "bedrock" }),
  };
  const listed: ListToolsResult["tools"] = await arsenal.retrieveTools("refund", { dialect: "mcp" });
  return [bedrock, listed];
}

/** A dialect without types of its own gives plain objects; one with them gives those; options made elsewhere still fit. */
export async function ownDialects(
  plain: Dialect,
  typed: Dialect<{ title: string }>,
  options: RetrieveToolsOptions,
): Promise<void> {
  const objects: Record<string, unknown>[] = await arsenal.retrieveTools("refund", { dialect: plain });
  const titles: { title: string }[] = await arsenal.retrieveTools("refund", { dialect: typed });
  const written = await arsenal.retrieveTools("refund", { dialect: { fromCanonical: ({ id }) => ({ id }) } });
  written satisfies { id: string }[];
  const unsure: Record<string, unknown>[] = await arsenal.retrieveTools("refund", { dialect: "auto", client: "gpt-5" });
  const any: object[] = await arsenal.retrieveTools("refund", options);
  // @ts-expect-error there is no such dialect
  await arsenal.retrieveTools("refund", { dialect: "opnai" });
  // @ts-expect-error Anthropic's definitions have no `function`
  (await arsenal.retrieveTools("refund", { dialect: "anthropic" })).map((tool) => tool.function);
  // @ts-expect-error a dialect of one's own need not read streams
  plain.readStream();
  void [objects, titles, written, unsure, any];
}
