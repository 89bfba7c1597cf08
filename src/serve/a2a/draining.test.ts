import type { Task } from "@a2a-js/sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { A2A_WAYS, asking, outcomeOf, readEvents } from "../../../test/serve/a2a-clients.ts";
import { ticketArsenal } from "../../../test/mcp/toolset-gateway.ts";
import type { ToolArsenalParts } from "../../index.ts";

/** A gateway with a tool that waits; `started` resolves when so many calls of it run. */
async function serve(drainMs: number, calls: number, parts: ToolArsenalParts = {}) {
  const arsenal = ticketArsenal({}, parts);
  const [started, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  let running = 0;
  arsenal.register({ name: "wait", namespace: "support", description: "Waits." }, (_args, { signal }) => {
    signal.addEventListener("abort", () => finished.reject(signal.reason));
    if (++running === calls) started.resolve();
    return finished.promise;
  });
  const gateway = await arsenal.serve({ port: 0, drainMs });
  onTestFinished(async () => {
    await gateway.close();
    await arsenal.close();
  });
  return { gateway, url: gateway.url ?? "", started: started.promise, finish: () => finished.resolve("done") };
}

const WAIT = { tool: "support.wait" };

describe.each(A2A_WAYS)("shutting down while a task runs, over $name", ({ name, connect }) => {
  it("lets the task end, answers its caller, and refuses new messages with Retry-After", async () => {
    const { gateway, url, started, finish } = await serve(60_000, 2);
    const client = await connect(url);
    const answered = client.sendMessage(asking(WAIT));
    const streamed = readEvents(client.sendMessageStream(asking(WAIT)));
    await started;
    const closed = gateway.close();
    const path = name.startsWith("JSON-RPC") ? "/a2a" : "/a2a/v1/message:send";
    const version = name.slice(-3);
    const method = version === "1.0" ? "SendMessage" : "message/send";
    const refused = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "A2A-Version": version },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }),
    });
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
    expect(JSON.stringify(await refused.json())).toContain("shutting down");
    finish();
    expect(outcomeOf(await answered)).toMatchObject({ state: "completed", made: ["done"] });
    expect((await streamed).at(-1)).toBe("completed");
    await closed;
  });

  it("cuts the task off when its time is over, and says so", async () => {
    const { gateway, url, started } = await serve(0, 1);
    const client = await connect(url);
    const answered = client.sendMessage(asking(WAIT)) as Promise<Task>;
    await started;
    const closed = gateway.close();
    const { state, said } = outcomeOf(await answered);
    expect(state).toBe("failed");
    expect(said[0]).toContain("shut down");
    await closed;
  });
});

it("shutting down waits for an answer that is still read from a slow store", async () => {
  const state = memoryState();
  const [asked, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const documents: typeof state.documents = {
    ...state.documents,
    async get(key) {
      const found = await state.documents.get(key);
      if (!JSON.stringify(found ?? {}).includes("TASK_STATE_COMPLETED")) return found;
      asked.resolve();
      await slow.promise;
      return found;
    },
  };
  const { gateway, url, started, finish } = await serve(60_000, 1, { state: { ...state, documents } });
  const answered = (await A2A_WAYS[0].connect(url)).sendMessage(asking(WAIT));
  await started;
  finish();
  await asked.promise;
  expect(gateway.pending).toBe(1);
  const closed = gateway.close();
  slow.resolve();
  expect(outcomeOf(await answered)).toMatchObject({ state: "completed", made: ["done"] });
  await closed;
});
