/** A program against the Messages API, with no cast. Compiled, never run. */
import Anthropic from "@anthropic-ai/sdk";
import { ToolArsenal } from "../../../src/index.ts";
import { answerCalls, anthropicDialect } from "../../../src/adapters/dialects/index.ts";

const client = new Anthropic();
const arsenal = new ToolArsenal();

export async function loop(messages: Anthropic.MessageParam[]): Promise<void> {
  const dialect = anthropicDialect();
  const tools = await arsenal.retrieveTools("refund order 1042", {
    dialect: "anthropic",
    context: { recentMessages: messages },
  });
  const message = await client.messages.create({ model: "claude-sonnet-5", max_tokens: 1024, messages, tools });
  const answered = await answerCalls(dialect.readCalls(message), (call) => arsenal.execute(call));
  messages.push({ role: "assistant", content: message.content }, ...dialect.writeResults(answered));
}

export async function streamed(messages: Anthropic.MessageParam[]): Promise<void> {
  const dialect = anthropicDialect();
  const tools = await arsenal.retrieveTools("refund order 1042", { dialect });
  const reader = dialect.readStream();
  const stream = client.messages.stream({ model: "claude-sonnet-5", max_tokens: 1024, messages, tools });
  for await (const event of stream) for (const read of reader.push(event)) await arsenal.execute(read.call);
  const { content } = await stream.finalMessage();
  messages.push({ role: "assistant", content });
}
