/** A program against the AI SDK, with no cast. Compiled, never run. */
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, streamText, tool, type ToolSet } from "ai";
import { ToolArsenal } from "../../../src/index.ts";
import { aiSdkDialect, answerCalls } from "../../../src/adapters/dialects/index.ts";

const arsenal = new ToolArsenal();

async function toolsFor(request: string, recentMessages: ModelMessage[]): Promise<ToolSet> {
  const found = await arsenal.retrieveTools(request, { dialect: "ai-sdk", context: { recentMessages } });
  return Object.fromEntries(
    found.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema) }),
    ]),
  );
}

export async function loop(model: LanguageModel, messages: ModelMessage[]): Promise<void> {
  const dialect = aiSdkDialect();
  const result = await generateText({ model, messages, tools: await toolsFor("refund order 1042", messages) });
  const answered = await answerCalls(dialect.readCalls(result), (call) => arsenal.execute(call));
  messages.push(...result.response.messages, ...dialect.writeResults(answered));
}

export async function streamed(model: LanguageModel, messages: ModelMessage[]): Promise<void> {
  const dialect = aiSdkDialect();
  const reader = dialect.readStream();
  const result = streamText({ model, messages, tools: await toolsFor("refund order 1042", messages) });
  for await (const part of result.fullStream) for (const read of reader.push(part)) await arsenal.execute(read.call);
  messages.push(...(await result.response).messages);
}
