import assert from "node:assert/strict";
import { createGateway, jsonSchema, type ModelMessage, streamText, tool, type ToolSet } from "ai";
import { ToolArsenal, type ToolCall, type ToolResult } from "toolarsenal";
import { aiSdkDialect, answerCalls, type ReadCall } from "toolarsenal/dialects";
import { aiGatewayEvents } from "./support/ai-gateway-events.ts";
import { serveScript } from "./support/scripted-model.ts";
import { agent, dana, REQUESTS, registerShop, SCRIPT } from "./support/shop.ts";

const arsenal = new ToolArsenal();
const refunds = registerShop(arsenal);
const dialect = aiSdkDialect();

// With AI_GATEWAY_API_KEY the real model answers; without it, a script on this machine. Any other provider of the AI SDK works as well.
const scripted =
  process.env["AI_GATEWAY_API_KEY"] === undefined ? await serveScript(SCRIPT, aiGatewayEvents) : undefined;
const gateway = createGateway(scripted === undefined ? {} : { baseURL: scripted.url, apiKey: "none" });
const model = gateway(process.env["AI_GATEWAY_MODEL"] ?? "openai/gpt-5-mini");
const messages: ModelMessage[] = [];

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
    const found = await arsenal.retrieveTools(request, { dialect, limit: 3, context, principal: agent });
    // Without `execute`, the AI SDK hands calls back to this loop.
    const tools: ToolSet = Object.fromEntries(
      found.map(({ name, description, inputSchema }) => [
        name,
        tool({ description, inputSchema: jsonSchema(inputSchema) }),
      ]),
    );

    const reader = dialect.readStream();
    const calls: ReadCall[] = [];
    const result = streamText({ model, instructions: "You serve a shop's customers.", messages, tools });
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") process.stdout.write(part.text);
      calls.push(...reader.push(part));
    }
    calls.push(...reader.end());
    messages.push(...(await result.response).messages);
    if (calls.length === 0) break;

    const answered = await answerCalls(calls, run);
    for (const { read, result: outcome } of answered) console.log(`  ${read.call.toolName}: ${outcome.status}`);
    messages.push(...dialect.writeResults(answered));
  }
  console.log();
}

if (scripted !== undefined) {
  assert.deepEqual(refunds, [{ order: "1042", amount: 30 }]);
  const results = messages.flatMap((message) => (message.role === "tool" ? message.content : []));
  const outputs = results.flatMap((result) => (result.type === "tool-result" ? [result.output] : []));
  assert.deepEqual(
    outputs.map(({ type }) => type),
    ["json", "text", "error-text"],
  );
  assert.match(JSON.stringify(outputs[2]), /denied/i);
  assert.ok(scripted.requests.every(({ tools = [] }) => tools.length > 0 && tools.length <= 3));
  assert.match(JSON.stringify(scripted.requests[2]?.tools), /refund_order/);
  scripted.close();
}
await arsenal.close();
