import { parseArgs } from "node:util";
import type { AgentCard } from "@a2a-js/sdk";
import { memoryState } from "../../src/adapters/state/memory.ts";
import { servableOf, ToolArsenal } from "../../src/arsenal.ts";
import { createEgress } from "../../src/guard/egress/egress.ts";
import { createSecrets } from "../../src/guard/secrets/secrets.ts";
import { stateOf } from "../../src/serve/a2a/call-context.ts";
import { createA2aEndpoint } from "../../src/serve/a2a/endpoint.ts";
import { createPushes } from "../../src/serve/a2a/tasks/push.ts";
import { openHost } from "../../src/serve/host.ts";
import { createReplica } from "../../src/serve/replica.ts";
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

const cardAt = (base: string): AgentCard => ({
  name: "ToolArsenal under test",
  description: "Does what the id of a message asks for.",
  version: "1.0.0",
  provider: { organization: "ToolArsenal", url: "https://example.com" },
  supportedInterfaces: [
    { url: `${base}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
    { url: `${base}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "0.3", tenant: "" },
    { url: `${base}/a2a/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0", tenant: "" },
    { url: `${base}/a2a`, protocolBinding: "HTTP+JSON", protocolVersion: "0.3", tenant: "" },
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
});

const work = createWork();
const replica = await createReplica(memoryState());
// The kit is notified at a port of this machine that it picks itself.
const pushOrigins = Array.from({ length: 65_535 }, (_, place) => `http://localhost:${place + 1}`);
const push = createPushes(replica, { egress: createEgress(), pushOrigins, taskTtlS: 3_600, emit: () => undefined });
const endpoint = createA2aEndpoint({
  executor: tckExecutor(),
  card: cardAt,
  abilities: cardAt(""),
  ...(hasExtendedCard && { extendedCard: async (call) => cardAt(stateOf(call).base ?? "") }),
  replica,
  ttlMs: 3_600_000,
  ...(isFull && { push }),
  work,
  unversionedCard: values.version === "0.3" ? "0.3" : "1.0",
});
const host = await openHost(
  [() => ({ name: "a2a", routes: endpoint.routes, close: async () => endpoint.close() })],
  {
    arsenal: servableOf(new ToolArsenal({ telemetry: { enabled: false } })),
    mode: "dynamic",
    startup: STARTED,
    work,
    redactor: createSecrets().redactor,
    replica,
  },
  { port: Number(values.port), drainMs: 1000 },
);
process.stdout.write(`${host.url}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void host.close());
