import assert from "node:assert/strict";
import OpenAI from "openai";
import { ToolArsenal, type ToolCall, type ToolResult } from "toolarsenal";
import { answerCalls, openaiDialect, type ReadCall } from "toolarsenal/dialects";
import { openaiEvents } from "./support/openai-events.ts";
import { serveScript } from "./support/scripted-model.ts";
import { agent, dana, REQUESTS, registerShop, SCRIPT } from "./support/shop.ts";

const arsenal = new ToolArsenal();
const refunds = registerShop(arsenal);
const dialect = openaiDialect();

// With OPENAI_API_KEY the real model answers; without it, a script on this machine.
const scripted = process.env["OPENAI_API_KEY"] === undefined ? await serveScript(SCRIPT, openaiEvents) : undefined;
const client = new OpenAI(scripted === undefined ? {} : { baseURL: scripted.url, apiKey: "none" });
const model = process.env["OPENAI_MODEL"] ?? "gpt-5-mini";
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: "You serve a shop's customers." }];

/** Runs a call. One that needs a person waits for Dana, who approves refunds of up to 100. */
async function run(call: ToolCall): Promise<ToolResult> {
  const result = await arsenal.execute({ ...call, principal: agent });
  const { status, confirmationId } = result;
  if (status !== "pending_confirmation" || confirmationId === undefined) return result;
  const approves = Number(call.arguments?.["amount"]) <= 100;
  console.log(`  ${call.toolName} waits: Dana ${approves ? "approves" : "denies"} it`);
  await (approves ? arsenal.approvals.approve(confirmationId, dana) : arsenal.approvals.deny(confirmationId, dana));
  return arsenal.execute({ ...call, principal: agent, confirmationId });
}

for (const request of REQUESTS) {
  console.log(`> ${request}`);
  messages.push({ role: "user", content: request });

  for (let turn = 0; turn < 5; turn++) {
    // Only the tools that matter now, for the conversation so far.
    const context = { recentMessages: messages.slice(-10) };
    const tools = await arsenal.retrieveTools(request, { dialect, limit: 3, context, principal: agent });

    const reader = dialect.readStream();
    const calls: ReadCall[] = [];
    const stream = client.chat.completions.stream({ model, messages, tools });
    for await (const chunk of stream) {
      process.stdout.write(chunk.choices[0]?.delta.content ?? "");
      calls.push(...reader.push(chunk));
    }
    calls.push(...reader.end());
    messages.push(await stream.finalMessage());
    if (calls.length === 0) break;

    const answered = await answerCalls(calls, run);
    for (const { read, result } of answered) console.log(`  ${read.call.toolName}: ${result.status}`);
    messages.push(...dialect.writeResults(answered));
  }
  console.log();
}

if (scripted !== undefined) {
  assert.deepEqual(refunds, [{ order: "1042", amount: 30 }]);
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  assert.equal(results.length, 3);
  assert.match(String(results[2]), /denied/i);
  assert.ok(scripted.requests.every(({ tools = [] }) => tools.length > 0 && tools.length <= 3));
  assert.match(JSON.stringify(scripted.requests[2]?.tools), /refund_order/);
  scripted.close();
}
await arsenal.close();
