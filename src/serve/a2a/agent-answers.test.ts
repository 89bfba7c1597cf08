import type { Task } from "@a2a-js/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { openaiEvents } from "../../../examples/support/openai-events.ts";
import { serveScript } from "../../../examples/support/scripted-model.ts";
import { A2A_WAYS, asking, outcomeOf, readEvents } from "../../../test/serve/a2a-clients.ts";
import { ticketArsenal } from "../../../test/mcp/toolset-gateway.ts";
import { memoryState } from "../../adapters/state/memory.ts";
import { localOperator } from "../../guard/principal.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { ToolArsenal } from "../../arsenal.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

type Script = Parameters<typeof serveScript>[0];

/** A gateway whose model says what a script says. */
async function serve(
  script: Script,
  { state = memoryState(), write = openaiEvents }: { state?: SharedState; write?: typeof openaiEvents } = {},
): Promise<{ url: string; arsenal: ToolArsenal }> {
  const model = await serveScript(script, write);
  const arsenal = ticketArsenal(
    { llm: { type: "openai", model: "scripted", apiBase: model.url } },
    { state: { ...state, close: async () => undefined } },
  );
  arsenal.register(
    { name: "refund", namespace: "billing", description: "Pays back.", requiresConfirmation: true },
    ({ amount }) => `paid ${String(amount)}`,
  );
  const gateway = await arsenal.serve({ port: 0 });
  ends.push(
    () => model.close(),
    () => arsenal.close(),
    () => gateway.close(),
  );
  return { url: gateway.url ?? "", arsenal };
}

const call = (name: string, args = {}): Script[number] => ({ calls: [{ id: "call_1", name, arguments: args }] });

describe.each(A2A_WAYS)("a text to an agent with a model, over $name", ({ connect }) => {
  it("is answered by the model, which finds and runs tools", async () => {
    const { url } = await serve([call("support-find_ticket"), { text: "Found it." }]);
    const events = await readEvents((await connect(url)).sendMessageStream(asking("find a ticket")));
    expect(events).toEqual(["task submitted", "working", "working", "working", 'artifact "Found it."', "completed"]);
  });

  it("waits for an approval as input-required, and goes on in another process", async () => {
    const state = memoryState();
    const a = await serve([call("billing-refund", { amount: 7 })], { state });
    const b = await serve([{ text: "It is paid." }], { state });
    const asked = (await (await connect(a.url)).sendMessage(asking("refund 7"))) as Task;
    const { state: paused, said } = outcomeOf(asked);
    expect(paused).toBe("input_required");
    const { confirmationId } = said[1] as { readonly confirmationId: string };
    await b.arsenal.approvals.answer(confirmationId, "approve", localOperator({ id: "boss" }));
    const { id: taskId, contextId } = asked;
    const answered = await (await connect(b.url)).sendMessage(asking("go on", { taskId, contextId }));
    expect(outcomeOf(answered)).toMatchObject({ state: "completed", made: ["It is paid."] });
  });
});

describe("an agent with a model", () => {
  const [way] = A2A_WAYS;

  it("still finds tools if that skill is addressed, and runs tools for data parts", async () => {
    const { url } = await serve([]);
    const client = await way.connect(url);
    const found = await client.sendMessage(asking("find a ticket", { metadata: { skillId: "tool_discovery" } }));
    expect(JSON.stringify(outcomeOf(found).made)).toContain("support.find_ticket");
    expect(outcomeOf(await client.sendMessage(asking({ tool: "billing.pay" }))).made).toEqual(["pay"]);
  });

  it("fails the task if the model fails", async () => {
    const { url } = await serve([{}], { write: () => ["data: {"] as never });
    const { state, said } = outcomeOf(await (await way.connect(url)).sendMessage(asking("find a ticket")));
    expect(state).toBe("failed");
    expect(said[1]).toMatchObject({ code: expect.any(String) as string });
  });
});
