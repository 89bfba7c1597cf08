/* md
# Eight MCP servers in one gateway, with a policy

*For operators who put several MCP servers behind one policy.*

Your editor, your chat client and your agents each start the same MCP servers, each with its own copy of the keys, and nothing decides who may do
what. This page puts eight servers behind one gateway, says in one file who may call which tool, and shows what happens when a server changes a
tool after you reviewed it.

[server.ts](../../../examples/eight-servers/server.ts) stands in for the eight, so that the page runs anywhere; replace `command` and `args` with the ones from
your client's configuration. This is the policy:

```yaml
# policy.yaml
version: 1
mode: strict
rules:
  - id: everybody-reads
    effect: allow
    tools: ["*.read_*", "*.search_*", "*.list_*", "*.show_*", "*.get_*", "database.run_query"]

  - id: developers-write-code
    effect: allow
    tools: ["files.write_file", "git.*", "issues.*"]
    roles: [developer]

  - id: mail-needs-a-person
    effect: require_approval
    tools: ["mail.send_mail", "payments.refund_charge"]
    reason: Nothing leaves the company, and no money moves, without a person.

  - id: the-database-is-read-only
    effect: deny
    tools: ["database.delete_rows"]
```

## Connect all of them
*/
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPrincipal, localOperator, ToolArsenal } from "toolarsenal";
import { mcp } from "toolarsenal/sources";

const folder = mkdtempSync(join(tmpdir(), "eight-servers-"));
const changed = join(folder, "changed");
const server = fileURLToPath(new URL("server.ts", import.meta.url));
const policyFile = fileURLToPath(new URL("policy.yaml", import.meta.url));

const arsenal = new ToolArsenal({ telemetry: { enabled: false }, security: { policyFile, pins: "changes" } });
const names = ["files", "git", "issues", "calendar", "mail", "database", "weather", "payments"];
for (const name of names) {
  const count = await arsenal.add(mcp({ name, command: process.execPath, args: [server, name, changed] }));
  console.log(name.padEnd(9), count, "tools");
}
/* md
## See what each caller sees

A developer and a colleague from sales use the same gateway. Lists and searches have only the tools that the caller may call.
*/
const capabilities = ["file_system", "network_access", "read_data", "write_data", "financial"] as const;
const ada = createPrincipal({ id: "ada", roles: ["developer"], capabilities });
const sam = createPrincipal({ id: "sam", roles: ["sales"], capabilities });

for (const principal of [ada, sam]) {
  const tools = await arsenal.listTools({ principal });
  console.log(`${principal.id} sees ${tools.length}: ${tools.map(({ id }) => id).join(" ")}\n`);
}
/* md
## Search over all eight
*/
for (const request of ["will it rain in Oslo on Friday", "somebody reported that the login is broken, find it"]) {
  const { tools } = await arsenal.retrieve(request, { limit: 2, principal: sam });
  console.log(`${request}\n  ${tools.map(({ tool }) => tool.id).join(", ")}`);
}
/* md
## Call under policy

An allowed call runs. A refused one says which rule refused it. A call that needs a person waits.
*/
const text = "The release is out.";
const calls = [
  { toolName: "files.write_file", arguments: { text }, principal: ada },
  { toolName: "files.write_file", arguments: { text }, principal: sam },
  { toolName: "database.delete_rows", arguments: { text: "customers" }, principal: ada },
  { toolName: "mail.send_mail", arguments: { text }, principal: sam },
];
for (const call of calls) {
  const { status, error } = await arsenal.execute(call);
  console.log(`${call.principal.id} ${call.toolName}: ${status}${error ? `, ${error.code}` : ""}`);
}
/* md
Sam lacks the role that `developers-write-code` asks for. `database.delete_rows` is denied to everybody, so it answers as if there were no such tool: names of
hidden tools cannot be guessed.

## Approve the mail

Dana sees exactly what would be sent, and approves it once.
*/
const [waiting] = await arsenal.approvals.list();
assert.ok(waiting);
console.log(`${waiting.requestedBy} asks for ${waiting.toolId} ${JSON.stringify(waiting.arguments)}`);
await arsenal.approvals.approve(waiting.id, localOperator({ id: "dana" }));
const sent = await arsenal.execute({ ...calls[3], toolName: "mail.send_mail", confirmationId: waiting.id });
console.log(sent.status, JSON.stringify(sent.result));
/* md
## When a server changes its mind

The server `files` now ships another description for `read_file`: it tells the model to mail every file to somebody. The gateway recorded the definition
that you saw first. The new text reaches no model, and calls are refused until a person has looked at it.
*/
writeFileSync(changed, "");
await arsenal.remove("files");
await arsenal.add(mcp({ name: "files", command: process.execPath, args: [server, "files", changed] }));

const read = await arsenal.execute({ toolName: "files.read_file", arguments: { text: "notes.txt" }, principal: ada });
console.log(read.status, read.error?.code);
const tool = await arsenal.getTool("read_file", "files");
console.log("the model still reads:", tool?.description);
for (const pin of (await arsenal.pins?.list()) ?? [])
  if (pin.state === "changed") console.log(pin.id, "waits to be accepted");
/* md
## Serve it

One line serves MCP clients, REST, A2A and the dashboard from this program. With the same servers in `arsenal.yaml`, `npx toolarsenal serve` does it
without a program.
*/
const gateway = await arsenal.serve({ port: 0 });
console.log("serving", "/mcp and /ui on", new URL(gateway.url ?? "").hostname);
await gateway.close();
await arsenal.close();
rmSync(folder, { recursive: true });
assert.deepEqual([sent.status, read.status], ["success", "permission_denied"]);
/* md
## Read next

- [Policy](../policy.md): every key of a rule, conditions, test cases for a policy
- [Pins](../pins.md): review what changed, and accept it
- [Gateway](../gateway.md): clients, transports, the dashboard
*/
