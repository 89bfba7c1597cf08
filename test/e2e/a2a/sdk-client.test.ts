import type { Message, SendMessageRequest, Task } from "@a2a-js/sdk";
import { ClientFactory, type Transport } from "@a2a-js/sdk/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../../src/arsenal.ts";
import { localOperator } from "../../../src/guard/principal.ts";
import { A2A_WAYS, asking, eventText, outcomeOf } from "../../serve/a2a-clients.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

/** A gateway with a tool that answers, one that waits to be cancelled, and one that needs an approval. */
async function serve() {
  const [started, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const arsenal = cleanUp.use(
    new ToolArsenal({
      embedder: { tier: "lexical" },
      telemetry: { enabled: false },
      security: { requireConfirmation: ["bank.refund"] },
      environment: {},
    }),
  );
  const parameters = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } as const;
  arsenal.register({ name: "add", description: "Adds two numbers.", parameters }, ({ a = 0, b = 0 }) => ({
    sum: a + b,
  }));
  arsenal.register({ name: "watch", description: "Watches until it is stopped." }, (_args, { signal }) => {
    started.resolve();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        stopped.resolve();
        reject(signal.reason as Error);
      });
    });
  });
  arsenal.register({ name: "refund", namespace: "bank", description: "Refunds a payment." }, () => "refunded");
  const gateway = await arsenal.serve({ port: 0 });
  cleanUp.defer(() => gateway.close());
  return { arsenal, url: gateway.url ?? "", started: started.promise, stopped: stopped.promise };
}

/** Sends a message and reads how its task stands afterwards: from the answer, or from the stream of its events. */
async function send(client: Transport, isStreamed: boolean, request: SendMessageRequest): Promise<Task> {
  if (!isStreamed) return (await client.sendMessage(request)) as Task;
  const states: string[] = [];
  let id = "";
  for await (const event of client.sendMessageStream(request)) {
    if (event.payload?.$case === "task") ({ id } = event.payload.value);
    states.push(eventText(event));
  }
  const task = await client.getTask({ id, tenant: "" });
  // The last event said how the task ended.
  expect(states.at(-1)).toBe(outcomeOf(task).state);
  return task;
}

/** Starts a task and leaves it running. */
async function start(client: Transport, isStreamed: boolean, part: object): Promise<string> {
  if (!isStreamed) return ((await client.sendMessage(asking(part, { returnImmediately: true }))) as Task).id;
  const stream = client.sendMessageStream(asking(part));
  const first = await stream.next();
  await stream.return();
  return first.value?.payload?.$case === "task" ? first.value.payload.value.id : "";
}

const WAYS = A2A_WAYS.flatMap((way) => [
  { ...way, isStreamed: false },
  { ...way, name: `${way.name}, streamed`, isStreamed: true },
]);

describe.each(WAYS)("the SDK's client over $name", ({ connect, isStreamed }) => {
  it("runs a tool that it names", async () => {
    const { url } = await serve();
    const task = await send(await connect(url), isStreamed, asking({ tool: "add", arguments: { a: 2, b: 3 } }));
    expect(outcomeOf(task)).toMatchObject({ state: "completed", made: [{ sum: 5 }] });
  });

  it("cancels a task, and the tool stops", async () => {
    const { url, started, stopped } = await serve();
    const client = await connect(url);
    const id = await start(client, isStreamed, { tool: "watch", arguments: {} });
    await started;
    expect(outcomeOf(await client.cancelTask({ id, tenant: "", metadata: {} })).state).toBe("canceled");
    await stopped;
    expect(outcomeOf(await client.getTask({ id, tenant: "" })).state).toBe("canceled");
  });

  it("is asked for input, and goes on with the same task", async () => {
    const { arsenal, url } = await serve();
    const client = await connect(url);
    const asked = await send(client, isStreamed, asking({ tool: "bank.refund", arguments: {} }));
    const [waiting] = await arsenal.approvals.list();
    const confirmationId = waiting?.id ?? "";
    expect(outcomeOf(asked)).toMatchObject({ state: "input_required" });
    expect(JSON.stringify(outcomeOf(asked).said)).toContain(confirmationId);
    await arsenal.approvals.approve(confirmationId, localOperator({ id: "ada" }));
    const about: Partial<Message> = { taskId: asked.id, contextId: asked.contextId };
    const done = await send(client, isStreamed, asking({ confirmationId }, about));
    expect(done.id).toBe(asked.id);
    expect(outcomeOf(done)).toMatchObject({ state: "completed", made: ["refunded"] });
  });
});

it("offers every version and binding on its card, and the SDK's client takes the newest", async () => {
  const { url } = await serve();
  const client = await new ClientFactory().createFromUrl(url);
  expect(client.protocolVersion).toBe("1.0");
  const { supportedInterfaces } = await client.getAgentCard();
  expect(
    supportedInterfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`),
  ).toEqual(expect.arrayContaining(["JSONRPC 1.0", "HTTP+JSON 1.0", "JSONRPC 0.3", "HTTP+JSON 0.3"]));
});
