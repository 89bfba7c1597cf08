/** A program against Chat Completions and Responses, with no cast. Compiled, never run. */
import OpenAI from "openai";
import { ToolArsenal } from "../../../src/index.ts";
import { answerCalls, openaiDialect, openaiResponsesDialect } from "../../../src/adapters/dialects/index.ts";

const client = new OpenAI();
const arsenal = new ToolArsenal();

export async function chat(messages: OpenAI.ChatCompletionMessageParam[]): Promise<void> {
  const dialect = openaiDialect();
  const tools = await arsenal.retrieveTools("refund order 1042", { context: { recentMessages: messages } });
  const completion = await client.chat.completions.create({ model: "gpt-5", messages, tools });
  const answered = await answerCalls(dialect.readCalls(completion), (call) => arsenal.execute(call));
  const [choice] = completion.choices;
  if (choice !== undefined) messages.push(choice.message);
  messages.push(...dialect.writeResults(answered));
}

export async function streamedChat(messages: OpenAI.ChatCompletionMessageParam[]): Promise<void> {
  const dialect = openaiDialect();
  const tools = await arsenal.retrieveTools("refund order 1042", { dialect, strict: true });
  const reader = dialect.readStream();
  const calls = [];
  for await (const chunk of await client.chat.completions.create({ model: "gpt-5", messages, tools, stream: true }))
    calls.push(...reader.push(chunk));
  calls.push(...reader.end());
  messages.push(...dialect.writeResults(await answerCalls(calls, (call) => arsenal.execute(call))));
}

export async function responses(input: OpenAI.Responses.ResponseInput): Promise<void> {
  const dialect = openaiResponsesDialect();
  const tools = await arsenal.retrieveTools("refund order 1042", { dialect: "openai-responses" });
  const response = await client.responses.create({ model: "gpt-5", input, tools });
  const answered = await answerCalls(dialect.readCalls(response), (call) => arsenal.execute(call));
  const results = dialect.writeResults(answered);
  await client.responses.create({ model: "gpt-5", input: results, tools, previous_response_id: response.id });
}
