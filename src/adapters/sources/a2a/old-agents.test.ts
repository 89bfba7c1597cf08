import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, sendJson, startPlainServer } from "../../../../test/a2a/plain-server.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import { systemClock } from "../../../observe/clock.ts";
import { a2aSource } from "./a2a.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

/** The agent card of the seed: no version, and an address at the top. */
const seedCard: Answer = (response, _body, _request, url) =>
  sendJson(response, {
    name: "ToolArsenal",
    description: "ToolArsenal with 3 tools available",
    url: `${url}/`,
    version: "3.0.0",
    skills: [
      {
        id: "tool_discovery",
        name: "Tool Discovery",
        description: "Find relevant tools for a given task using semantic search",
        input_modes: ["text"],
        output_modes: ["text"],
      },
    ],
    authentication: null,
    provider: { organization: "Your Org", url: "https://your-org.com" },
  });

const part = (text: string) => ({ type: "text", text });

async function discover(url: string, waits: number[] = []): Promise<unknown> {
  const arsenal = cleanUp.use(new ToolArsenal());
  const clock = {
    ...systemClock,
    after: (ms: number, ...rest: [() => void]) => (waits.push(ms), systemClock.after(0, ...rest)),
  };
  await arsenal.add(a2aSource({ name: "peer", url, refreshS: 0 }, { clock }));
  return arsenal.execute({ toolName: "a2a_peer_tool_discovery", arguments: { message: "find refunds" } });
}

describe("an agent as the seed describes it", () => {
  it("is found at agent.json and gets tasks/send [000-8.2-fetch-card] [000-8.2-send-task]", async () => {
    const server = cleanUp.use(
      await startPlainServer({
        "/.well-known/agent.json": seedCard,
        "/": (response, { id, params }) => {
          const { id: taskId } = params as { id: string };
          const status = { state: "completed", message: { role: "agent", parts: [part("refund_user")] } };
          sendJson(response, { jsonrpc: "2.0", id, result: { id: taskId, status } });
        },
      }),
    );
    expect(await discover(server.url)).toMatchObject({
      status: "success",
      result: { state: "completed", text: "refund_user" },
    });
    expect(server.paths).toEqual(["/.well-known/agent-card.json", "/.well-known/agent.json", "/"]);
    expect(server.bodies).toMatchObject([
      {
        jsonrpc: "2.0",
        method: "tasks/send",
        params: { id: expect.any(String), message: { role: "user", parts: [part("find refunds")] } },
      },
    ]);
  });

  it("is asked for its task until that is done, with growing pauses", async () => {
    const waits: number[] = [];
    let asked = 0;
    const server = cleanUp.use(
      await startPlainServer({
        "/.well-known/agent.json": seedCard,
        "/": (response, { id, method, params }) => {
          const { id: taskId } = params as { id: string };
          const state = method === "tasks/get" && ++asked > 7 ? "completed" : "working";
          const artifacts = state === "completed" ? [{ index: 0, parts: [part("refund_user")] }] : [];
          sendJson(response, { jsonrpc: "2.0", id, result: { id: taskId, status: { state }, artifacts } });
        },
      }),
    );
    expect(await discover(server.url, waits)).toMatchObject({ status: "success", result: { text: "refund_user" } });
    expect(server.bodies.map(({ method }) => method)).toEqual(["tasks/send", ...waits.map(() => "tasks/get")]);
    expect(waits.map(Math.round)).toEqual([500, 750, 1125, 1688, 2531, 3797, 5000, 5000]);
  });

  it("gets message/send if it turns out to know no tasks/send", async () => {
    const server = cleanUp.use(
      await startPlainServer({
        "/.well-known/agent.json": seedCard,
        "/": (response, { id, method }) => {
          if (method === "message/send") {
            const result = { kind: "message", messageId: "1", role: "agent", parts: [{ kind: "text", text: "hi" }] };
            return sendJson(response, { jsonrpc: "2.0", id, result });
          }
          sendJson(response, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
        },
      }),
    );
    expect(await discover(server.url)).toMatchObject({ status: "success", result: { text: "hi" } });
    expect(server.bodies.map(({ method }) => method)).toEqual(["tasks/send", "message/send"]);
  });
});
