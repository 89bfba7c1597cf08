// The gateway answers MCP, REST through the typed client, and the dashboard.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ToolArsenal } from "toolarsenal";
import { createClient } from "toolarsenal/client";

const arsenal = new ToolArsenal();
arsenal.register({ name: "say_hello", description: "Says hello to somebody." }, () => "Hello");
const server = await arsenal.serve({ mcp: true, rest: true, ui: true, port: 0 });
const client = new Client({ name: "runtimes", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
const names = (await client.listTools()).tools.map(({ name }) => name);
assert.deepEqual(names, ["find_relevant_tools", "execute_tool"]);
const called = await client.callTool({ name: "execute_tool", arguments: { tool_name: "say_hello", arguments: {} } });
assert.equal(called.content[0].text, "Hello");
await client.close();
const remote = createClient({ url: server.url });
assert.equal((await remote.execute({ toolName: "say_hello", arguments: {} })).result, "Hello");
assert.equal((await fetch(`${server.url}/ui/`)).status, 200);
await server.close();
await arsenal.close();
