/** A program against LangChain's chat models, with no cast. Compiled, never run. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessageLike, HumanMessage } from "@langchain/core/messages";
import { ToolArsenal } from "../../../src/index.ts";
import { answerCalls, langchainDialect } from "../../../src/adapters/dialects/index.ts";

const arsenal = new ToolArsenal();

export async function loop(model: BaseChatModel): Promise<void> {
  const messages: BaseMessageLike[] = [new HumanMessage("Refund order 1042.")];
  const dialect = langchainDialect();
  const tools = await arsenal.retrieveTools("refund order 1042", { dialect: "langchain" });
  const bound = model.bindTools?.(tools);
  if (bound === undefined) throw new Error("This model takes no tools.");
  const message = await bound.invoke(messages);
  const answered = await answerCalls(dialect.readCalls(message), (call) => arsenal.execute(call));
  messages.push(message, ...dialect.writeResults(answered));
}
