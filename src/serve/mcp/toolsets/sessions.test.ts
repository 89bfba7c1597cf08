import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventsOf, legacy, modern } from "../../../../test/mcp/sample-endpoint.ts";
import { initialize, post, ticketArsenal } from "../../../../test/mcp/toolset-gateway.ts";
import { memoryState } from "../../../adapters/state/memory.ts";
import type { ToolArsenal } from "../../../arsenal.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import type { ServedGateway } from "../../serve-arsenal.ts";

interface Gateway extends ServedGateway {
  readonly arsenal: ToolArsenal;
}

/** Two gateways on one state. Paying needs an approval, which the operator may give. */
let a: Gateway;
let b: Gateway;
beforeEach(async () => {
  const state = memoryState();
  const start = async (): Promise<Gateway> => {
    const security = { requireConfirmation: ["billing.pay"], selfApproval: "local" } as const;
    const arsenal = ticketArsenal({ security }, { state });
    return { arsenal, ...(await arsenal.serve({ port: 0, mode: "static" })) };
  };
  [a, b] = [await start(), await start()];
});
afterEach(async () => {
  for (const { arsenal, close } of [a, b]) {
    await close();
    await arsenal.close();
  }
});

const at = ({ url }: Gateway, path: string): string => `${url}/mcp${path}`;
const LIST = legacy(2, "tools/list");

const ABILITIES = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
const PAY = { name: "billing-pay", arguments: {} };
const pay = (url: string, more: JsonObject = {}): Promise<{ readonly body: JsonObject }> =>
  post(url, modern(1, "tools/call", { ...PAY, ...more }, ABILITIES));

/** Says yes to every question of a result. */
function approved({ body }: { readonly body: JsonObject }): JsonObject {
  const { inputRequests, requestState } = body["result"] as JsonObject;
  const yes = { action: "accept", content: { approve: true } };
  const keys = Object.keys(inputRequests as JsonObject);
  return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, yes])) };
}

describe("a session at a toolset's address", () => {
  it("goes on at that address of another process, and at no other address", async () => {
    const session = await initialize(at(a, "/toolsets/both"));
    const listed = await post(at(b, "/toolsets/both"), LIST, session);
    expect((listed.body["result"] as { tools: unknown[] }).tools).toHaveLength(3);
    for (const gateway of [a, b])
      for (const path of ["", "/toolsets/payers", "/toolsets/helpers"])
        expect((await post(at(gateway, path), LIST, session)).status).toBe(404);
  });

  it("is not opened by a session of the whole catalog", async () => {
    const session = await initialize(at(a, ""));
    expect((await post(at(a, ""), LIST, session)).status).toBe(200);
    for (const gateway of [a, b]) expect((await post(at(gateway, "/toolsets/both"), LIST, session)).status).toBe(404);
  });

  it("ends with its streams when the toolset is removed", async () => {
    const session = await initialize(at(a, "/toolsets/both"));
    const stream = await fetch(at(a, "/toolsets/both"), { headers: { accept: "text/event-stream", ...session } });
    expect(stream.status).toBe(200);
    a.arsenal.toolsets.remove("both");
    for await (const _event of eventsOf(stream)) void _event;
    expect((await post(at(a, "/toolsets/both"), LIST, session)).status).toBe(404);
  });
});

describe("the state of a call that was asked about at a toolset's address", () => {
  it("is good at that address of another process", async () => {
    const asked = await pay(at(a, "/toolsets/payers"));
    expect(await pay(at(b, "/toolsets/payers"), approved(asked))).toMatchObject({
      body: { result: { content: [{ text: "pay" }] } },
    });
  });

  it.each(["", "/toolsets/both"])("is refused at /mcp%s, which has the same tool", async (path) => {
    const asked = await pay(at(a, "/toolsets/payers"));
    for (const gateway of [a, b])
      expect(await pay(at(gateway, path), approved(asked))).toMatchObject({
        body: { error: { message: "The requestState is not valid for this request." } },
      });
    expect(await pay(at(a, "/toolsets/payers"), approved(asked))).toMatchObject({
      body: { result: { content: [{ text: "pay" }] } },
    });
  });
});
