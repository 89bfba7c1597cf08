import { parseArgs } from "node:util";
import type { AgentCard } from "@a2a-js/sdk";
import { DefaultPushNotificationSender, InMemoryPushNotificationStore } from "@a2a-js/sdk/server";
import { memoryState } from "../../src/adapters/state/memory.ts";
import { ToolArsenal } from "../../src/arsenal.ts";
import { createSecrets } from "../../src/guard/secrets/secrets.ts";
import { createA2aEndpoint } from "../../src/serve/a2a/endpoint.ts";
import { openHost } from "../../src/serve/host.ts";
import { createReplica } from "../../src/serve/mcp/replica.ts";
import { STARTED } from "../../src/serve/startup.ts";
import { createWork } from "../../src/serve/work.ts";
import { tckExecutor } from "./tck-executor.ts";

/**
 * Serves the agent that the A2A compatibility kit expects, over our own bindings, until it is stopped:
 *
 *     npm run a2a:tck-target                      for the kit of 1.0
 *     npm run a2a:tck-target -- --version 0.3     for the kit of 0.3
 *     npm run a2a:tck-target -- --plain           without push notifications and an extended card
 *
 * Neither kit says which version it speaks when it reads the card, so the version has to be named here.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "9999" },
    version: { type: "string", default: "1.0" },
    plain: { type: "boolean", default: false },
  },
});
const isFull = !values.plain;
// The 0.3 kit wants the extended card to be refused to strangers, and on loopback there are none.
const hasExtendedCard = isFull && values.version !== "0.3";
const port = Number(values.port);
const url = `http://127.0.0.1:${port}/a2a`;

const card: AgentCard = {
  name: "ToolArsenal under test",
  description: "Does what the id of a message asks for.",
  version: "1.0.0",
  provider: { organization: "ToolArsenal", url: "https://example.com" },
  supportedInterfaces: [
    { url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
    { url, protocolBinding: "JSONRPC", protocolVersion: "0.3", tenant: "" },
    { url: `${url}/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0", tenant: "" },
    { url, protocolBinding: "HTTP+JSON", protocolVersion: "0.3", tenant: "" },
  ],
  capabilities: { streaming: true, pushNotifications: isFull, extensions: [], extendedAgentCard: hasExtendedCard },
  // The kit sends the last one and wants the refusal that the specification asks for to be a success (CORE-SEND-003). So it is taken.
  defaultInputModes: ["text/plain", "application/json", "application/x-unsupported-tck-type"],
  defaultOutputModes: ["text/plain", "application/json"],
  skills: [
    {
      id: "tck",
      name: "Compatibility",
      description: "Answers the messages of the compatibility kit.",
      tags: ["tck"],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
  documentationUrl: "",
  iconUrl: "",
};

const work = createWork();
const store = new InMemoryPushNotificationStore();
const endpoint = createA2aEndpoint({
  executor: tckExecutor(),
  card: () => card,
  abilities: card,
  ...(hasExtendedCard && { extendedCard: async () => card }),
  ...(isFull && { push: { store, sender: new DefaultPushNotificationSender(store) } }),
  work,
  unversionedCard: values.version === "0.3" ? "0.3" : "1.0",
});
const host = await openHost(
  [() => ({ name: "a2a", routes: endpoint.routes, close: async () => endpoint.close() })],
  {
    arsenal: new ToolArsenal({ telemetry: { enabled: false } }),
    mode: "dynamic",
    startup: STARTED,
    work,
    redactor: createSecrets().redactor,
    replica: await createReplica(memoryState()),
  },
  { port, drainMs: 1000 },
);
process.stdout.write(`${host.url}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void host.close());
