import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createPrincipal, formatResult, ToolArsenal } from "toolarsenal";
import { openaiLlm } from "toolarsenal/llms";
import { createAgent } from "toolarsenal/agent";
import { openaiEvents } from "./support/openai-events.ts";
import { serveScript } from "./support/scripted-model.ts";

const multiply = { operation: "multiply", a: 12, b: 8 };

// Without OPENAI_API_KEY a script on this machine answers. Its second answer is a call in words, as a model without tool support makes it.
const scripted =
  process.env["OPENAI_API_KEY"] === undefined
    ? await serveScript(
        [
          { calls: [{ id: "call_1", name: "calculator-calculator", arguments: multiply }] },
          { text: "12 * 8 is 96." },
          {
            text: JSON.stringify({
              function_call: { name: "calculator", arguments: JSON.stringify({ operation: "divide", a: 10, b: 0 }) },
            }),
          },
          { text: "10 cannot be divided by 0." },
        ],
        openaiEvents,
      )
    : undefined;
const llm = openaiLlm({ model: "gpt-5-mini", ...(scripted && { apiBase: scripted.url }) });

// The tools come from an MCP server over stdio.
const arsenal = new ToolArsenal();
const server = fileURLToPath(new URL("support/calculator-server.ts", import.meta.url));
await arsenal.addMcpServer({
  name: "calculator",
  transport: { kind: "stdio", command: process.execPath, args: [server] },
});

// The server is a program of its own, so its tools need these two capabilities.
const principal = createPrincipal({ id: "calculator-agent", capabilities: ["file_system", "network_access"] });
const agent = createAgent({
  llm,
  arsenal,
  principal,
  systemPrompt: "You are a helpful assistant with calculator capabilities.",
  name: "Calculator Agent",
});

const result = await agent.execute("What is 12 * 8?");
console.log(`Result: ${result}`); // prints: Result: 12 * 8 is 96.

// A failing tool does not end the run: the model reads what went wrong. Events show each step.
const run = agent.run("Use the calculator to divide 10 by 0");
for await (const event of run) {
  if (event.type === "tools-offered") console.log("offered:", event.tools.map(({ id }) => id).join(", "));
  if (event.type === "call-finished") console.log(formatResult(event.result));
}
const { text, steps, usage } = await run.result;
console.log(text);

if (scripted !== undefined) {
  assert.equal(text, "10 cannot be divided by 0.");
  assert.equal(steps, 2);
  assert.ok(usage.inputTokens > 0);
  const requests = scripted.requests.map((request) => JSON.stringify(request));
  assert.match(requests[1] ?? "", /"role":"tool","tool_call_id":"call_1","content":"96"/);
  assert.match(requests[3] ?? "", /Tool Execution Failed\\nTool: calculator\\nArguments: .*\\nError: Division by zero/);
  scripted.close();
}
await arsenal.close();
