/* md
# From an OpenAPI document to an agent, with approvals and traces

*For developers who have an OpenAPI document and want an agent to use it.*

A hotel has a booking service with an [OpenAPI document](../../../examples/api-agent/hotel.yaml). This page turns its operations into tools, gives them to an agent, has a
person approve what costs money, and follows one request from the search to the answer of the service.

## Add the service

The key stays outside the program text: a function, an environment variable or a secret store gives it when a request needs it. No model and no log sees it.
*/
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type ArsenalEvent, createPrincipal, localOperator, ToolArsenal } from "toolarsenal";
import { createAgent } from "toolarsenal/agent";
import { openaiLlm } from "toolarsenal/llms";
import { openapi } from "toolarsenal/sources";
import { openaiEvents } from "../support/openai-events.ts";
import { serveScript } from "../support/scripted-model.ts";
import { startHotel } from "./hotel-service.ts";

const hotel = await startHotel("only-the-service-knows");
const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
const count = await arsenal.add(
  openapi({
    name: "hotel",
    document: fileURLToPath(new URL("hotel.yaml", import.meta.url)),
    server: hotel.url,
    credentials: { hotelKey: () => "only-the-service-knows" },
  }),
);
console.log(count, "operations");
/* md
## Look at the tools

Each operation is a tool. Its risk and its capabilities come from the HTTP method; the operation that cancels needs a person's approval by default.
*/
for (const { id, description, riskLevel } of await arsenal.listTools())
  console.log(id.padEnd(22), riskLevel.padEnd(7), description);
/* md
## Call one by hand

Arguments are checked against the document before anything is sent.
*/
const principal = createPrincipal({
  id: "concierge",
  capabilities: ["read_data", "write_data", "external_api", "network_access", "delete_data"],
});
const rooms = await arsenal.execute({
  toolName: "hotel.find_rooms",
  arguments: { night: "2026-12-24", guests: 2 },
  principal,
});
console.log(rooms.status, JSON.stringify(rooms.result));
const crowd = await arsenal.execute({
  toolName: "hotel.find_rooms",
  arguments: { night: "2026-12-24", guests: 9 },
  principal,
});
console.log(crowd.status, crowd.error?.message);
/* md
## Give it to an agent

`subscribe` shows what happens inside: each search and each call, with the id of the trace that joins them. Without `OPENAI_API_KEY`, a script on this machine plays the model.
*/
const events: ArsenalEvent[] = [];
arsenal.subscribe((event) => void events.push(event), { names: ["retrieval-finished", "call-finished"] });

const scripted =
  process.env["OPENAI_API_KEY"] === undefined
    ? await serveScript(
        [
          {
            calls: [{ id: "1", name: "hotel-book_room", arguments: { room: 12, night: "2026-12-24", guest: "Ines" } }],
          },
          { calls: [{ id: "2", name: "hotel-cancel_booking", arguments: { id: "B1" } }] },
          { text: "Booked, and cancelled again." },
        ],
        openaiEvents,
      )
    : undefined;
const llm = openaiLlm({ model: "gpt-5-mini", ...(scripted && { apiBase: scripted.url }) });
const agent = createAgent({ llm, arsenal, principal, systemPrompt: "You are the concierge of a hotel." });

const run = agent.run("Book room 12 for Ines on Christmas Eve, then cancel it again.");
for await (const event of run) {
  if (event.type === "call-finished") console.log(event.result.toolName, event.result.status);
  if (event.type === "approval-needed") console.log("approval needed:", event.approval.message.split(". ")[0]);
}
console.log(hotel.bookings.size, "booking at the hotel");
/* md
## Approve the cancellation

The service has not been asked to cancel anything yet. A person approves, and the run goes on where it stopped.
*/
const [waiting] = await arsenal.approvals.list();
assert.ok(waiting);
await arsenal.approvals.approve(waiting.id, localOperator({ id: "dana" }));
const { text, status } = await agent.resume(run.save()).result;
console.log(status, "-", text);
console.log(hotel.bookings.size, "bookings at the hotel");
/* md
## Read the trace

Every event of the run has the same trace id. With `telemetry.type: otlp` the same spans go to your collector, and with a `state.file`,
`npx toolarsenal why TRACE_ID` shows them tomorrow.
*/
const traces = new Set<string>();
for (const event of events) {
  if (event.name === "retrieval-finished") {
    traces.add(event.data.traceId);
    console.log("search", event.data.tools.map(({ toolId }) => toolId).join(", "));
  }
  if (event.name === "call-finished") {
    traces.add(event.data.traceId);
    console.log("call  ", event.data.toolId, event.data.status);
  }
}
console.log(traces.size, traces.size === 1 ? "trace" : "traces");
/* md
## Clean up
*/
scripted?.close();
hotel.close();
await arsenal.close();
assert.deepEqual([status, hotel.bookings.size], ["answered", 0]);
/* md
## Read next

- [The openapi source](../../reference/adapters/sources/openapi.md): credentials, filters, what becomes of large documents
- [Approvals](../approvals.md): by webhook, by chat, in the dashboard
- [Observability](../observability.md): traces, metrics, history
*/
