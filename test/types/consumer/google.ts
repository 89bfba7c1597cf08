/** A program against the Gemini API, with no cast. Compiled, never run. */
import { type Content, GoogleGenAI } from "@google/genai";
import { ToolArsenal } from "../../../src/index.ts";
import { answerCalls, geminiDialect } from "../../../src/adapters/dialects/index.ts";

const client = new GoogleGenAI({ apiKey: "key" });
const arsenal = new ToolArsenal();

export async function loop(contents: Content[]): Promise<void> {
  const dialect = geminiDialect();
  const functionDeclarations = await arsenal.retrieveTools("refund order 1042", { dialect: "gemini" });
  const config = { tools: [{ functionDeclarations }] };
  const response = await client.models.generateContent({ model: "gemini-3-pro", contents, config });
  const answered = await answerCalls(dialect.readCalls(response), (call) => arsenal.execute(call));
  const answer = response.candidates?.[0]?.content;
  if (answer !== undefined) contents.push(answer);
  contents.push(...dialect.writeResults(answered));
}

export async function streamed(contents: Content[]): Promise<void> {
  const dialect = geminiDialect();
  const functionDeclarations = await arsenal.retrieveTools("refund order 1042", { dialect });
  const reader = dialect.readStream();
  const config = { tools: [{ functionDeclarations }] };
  for await (const chunk of await client.models.generateContentStream({ model: "gemini-3-pro", contents, config }))
    for (const read of reader.push(chunk)) await arsenal.execute(read.call);
}
