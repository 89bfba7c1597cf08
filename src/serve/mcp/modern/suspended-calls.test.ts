import { describe, expect, it } from "vitest";
import { aloneOnMemory, modern } from "../../../../test/mcp/sample-endpoint.ts";
import {
  ASK_NAME,
  createSamplePlane,
  type SamplePlane,
  type SampleTool,
  text,
} from "../../../../test/mcp/sample-plane.ts";
import type { JsonObject, RpcNotification, RpcRequest } from "../../../mcp/protocol.ts";
import { localOperator } from "../../../guard/principal.ts";
import { createManualClock, type ManualClock } from "../../../testing/manual-clock.ts";
import { createModernRequests } from "./modern-requests.ts";
import { createMcpRoom } from "../room.ts";
import { createSeal, type Seal } from "./seal.ts";

/** A client that can be asked, and repeats its requests. */
interface Client {
  readonly plane: SamplePlane;
  readonly clock: ManualClock;
  /** Calls a tool; what is given last goes into the params. */
  call(name: string, more?: JsonObject, meta?: JsonObject, principal?: string): Promise<JsonObject>;
  /** What the latest request was told before its answer. */
  readonly notified: readonly RpcNotification[];
  /** Cancels the latest request. */
  cancel(): void;
  close(): void;
}

const alone = await aloneOnMemory();
const ABILITIES = { elicitation: {}, sampling: {}, roots: {} };

function client(more: Readonly<Record<string, SampleTool>> = {}, suspended = 1000, seal?: Seal): Client {
  const replica = { ...alone.replica, ...(seal && { seal }) };
  const plane = createSamplePlane(more);
  const clock = createManualClock();
  const requests = createModernRequests(plane, { ...alone, clock, room: createMcpRoom({ suspended }), replica });
  const notified: RpcNotification[] = [];
  let cancel = (): void => undefined;
  let id = 0;
  return {
    plane,
    clock,
    notified,
    cancel: () => cancel(),
    close: () => requests.close(),
    async call(name, params = {}, meta = {}, principal = "ada") {
      notified.length = 0;
      const envelope = { "io.modelcontextprotocol/clientCapabilities": ABILITIES, ...meta };
      const request = modern(++id, "tools/call", { name, arguments: { a: 1 }, ...params }, envelope);
      const ongoing = requests.handle(request as unknown as RpcRequest, {
        principal: localOperator({ id: principal }),
        headers: {},
        notify: (notification) => void notified.push(notification),
      });
      ({ cancel } = ongoing);
      const { result, error } = ((await ongoing.response) ?? {}) as unknown as Record<string, JsonObject>;
      return result ?? { error };
    },
  };
}

const ADA = { action: "accept", content: { name: "Ada" } };
const REFUSED = { error: { code: -32602, message: "The requestState is not valid for this request." } };

describe("a call that asks a modern client", () => {
  it("is answered with the question, and goes on with the repeat", async () => {
    const { call, plane } = client();
    const asked = await call("greet");
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { "input-1": { method: "elicitation/create", params: ASK_NAME } },
      requestState: expect.any(String) as string,
    });
    expect(asked).not.toHaveProperty("ttlMs");
    const { requestState } = asked;
    expect(await call("greet", { requestState, inputResponses: { "input-1": ADA } })).toMatchObject({
      resultType: "complete",
      ...text("Hello Ada"),
    });
    expect(plane.exchanges).toHaveLength(1);
  });

  it("puts questions that come together into one answer", async () => {
    const { call } = client({
      both: async (_args, { ask, signal }) => {
        const later = (async () => {
          for (let step = 0; step < 5; step++) await Promise.resolve();
          return ask("roots/list", undefined, { signal });
        })();
        const answers = await Promise.all([ask("elicitation/create", ASK_NAME, { signal }), later]);
        return text(JSON.stringify(answers));
      },
    });
    const { inputRequests, requestState } = await call("both");
    expect(Object.values(inputRequests as JsonObject).map((request) => (request as JsonObject)["method"])).toEqual([
      "elicitation/create",
      "roots/list",
    ]);
    const inputResponses = { "input-1": ADA, "input-2": { roots: [] } };
    expect(await call("both", { requestState, inputResponses })).toMatchObject(
      text(JSON.stringify([ADA, { roots: [] }])),
    );
  });

  it("asks again in a second round, with a new state", async () => {
    const { call } = client({
      twice: async (_args, { ask, signal }) => {
        const first = await ask("elicitation/create", ASK_NAME, { signal });
        const second = await ask("elicitation/create", ASK_NAME, { signal });
        return text(JSON.stringify([first, second]));
      },
    });
    const first = await call("twice");
    const second = await call("twice", {
      requestState: first["requestState"],
      inputResponses: { "input-1": { action: "decline" } },
    });
    expect(second).toMatchObject({ resultType: "input_required", inputRequests: { "input-2": {} } });
    expect(Object.keys(second["inputRequests"] as JsonObject)).toEqual(["input-2"]);
    const { requestState } = second;
    const old = { requestState: first["requestState"], inputResponses: { "input-2": {} } };
    expect(await call("twice", old)).toEqual(REFUSED);
    expect(await call("twice", { requestState, inputResponses: { "input-2": { action: "cancel" } } })).toMatchObject(
      text(JSON.stringify([{ action: "decline" }, { action: "cancel" }])),
    );
  });

  it("asks again for what a repeat leaves out, and ignores what was not asked", async () => {
    const { call } = client();
    const { requestState } = await call("greet");
    const again = await call("greet", { requestState, inputResponses: { other: {} } });
    expect(again).toMatchObject({ resultType: "input_required", inputRequests: { "input-1": {} } });
    const finished = await call("greet", {
      requestState: again["requestState"],
      inputResponses: { "input-1": ADA },
    });
    expect(finished).toMatchObject(text("Hello Ada"));
  });

  it.each([
    ["sampling/createMessage", {}, { sampling: {} }],
    ["elicitation/create", { elicitation: {}, mode: "url" }, { elicitation: { url: {} } }],
  ])("is refused %s where the client did not declare it", async (method, capabilities, requiredCapabilities) => {
    const { call } = client({
      ask: (_args, { ask, signal }) => ask(method, { mode: "url" }, { signal }),
    });
    const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
    expect(await call("ask", {}, meta)).toMatchObject({ error: { code: -32021, data: { requiredCapabilities } } });
  });

  it("can ask only during requests that may be answered with a question", async () => {
    const plane = createSamplePlane();
    const handle: SamplePlane["shared"]["handle"] = ({ ask, signal }) => ask("roots/list", undefined, { signal });
    const requests = createModernRequests({ ...plane, shared: { ...plane.shared, handle } }, alone);
    const request = modern(1, "tools/list", {}, { "io.modelcontextprotocol/clientCapabilities": ABILITIES });
    const context = { principal: localOperator(), headers: {}, notify: () => undefined };
    expect(await requests.handle(request as unknown as RpcRequest, context).response).toMatchObject({
      error: { code: -32603, message: "A client cannot be asked during tools/list." },
    });
  });

  it("can ask only what this revision lets a server ask", async () => {
    const { call } = client({ ask: (_args, { ask, signal }) => ask("custom/thing", {}, { signal }) });
    expect(await call("ask")).toMatchObject({ error: { code: -32601 } });
  });
});

describe("a suspended call's state", () => {
  const inputResponses = { "input-1": ADA };

  it("is good once", async () => {
    const { call } = client();
    const { requestState } = await call("greet");
    await call("greet", { requestState, inputResponses });
    expect(await call("greet", { requestState, inputResponses })).toEqual(REFUSED);
  });

  it("is good for the caller and the request that it was given for", async () => {
    const { call, plane } = client();
    const { requestState } = await call("greet");
    expect(await call("greet", { requestState, inputResponses }, {}, "eve")).toEqual(REFUSED);
    expect(await call("echo", { requestState, inputResponses })).toEqual(REFUSED);
    expect(await call("greet", { requestState, inputResponses, arguments: { a: 2 } })).toEqual(REFUSED);
    expect(await call("greet", { requestState: `${String(requestState)}A`, inputResponses })).toEqual(REFUSED);
    expect(plane.exchanges).toHaveLength(1);
    expect(await call("greet", { requestState, inputResponses })).toMatchObject(text("Hello Ada"));
  });

  it("is not used up by answers that make no sense", async () => {
    const { call } = client();
    const { requestState } = await call("greet");
    for (const wrong of [[], "Ada", { "input-1": "Ada" }]) {
      expect(await call("greet", { requestState, inputResponses: wrong })).toMatchObject({ error: { code: -32602 } });
    }
    expect(await call("greet", { requestState, inputResponses })).toMatchObject(text("Hello Ada"));
  });

  it("expires after ten minutes, and the call is aborted then", async () => {
    const { call, clock, plane } = client();
    const { requestState } = await call("greet");
    await clock.advance(599_999);
    expect(plane.exchanges[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(await call("greet", { requestState, inputResponses })).toEqual(REFUSED);
    expect(clock.pending).toBe(0);
  });

  it("is left to the plane where it is another gateway's, or the plane's own under the same seal", async () => {
    const seal = createSeal();
    const { call, plane } = client({}, 1000, seal);
    const binding = { principal: { id: "ada" }, plane: "x", method: "y", params: {} };
    const states = [`call.${createSeal().seal({}, binding)}`, seal.seal({}, binding), "anything"];
    for (const requestState of states) await call("echo", { requestState });
    expect(plane.exchanges.map(({ params }) => params["requestState"])).toEqual(states);
  });
});

describe("a suspended call", () => {
  it("goes on while it waits: notifications and the result are kept for the repeat", async () => {
    const controller = new AbortController();
    const { call, notified, plane } = client({
      hasty: async (_args, { ask, notify, params }) => {
        const { progressToken } = params["_meta"] as JsonObject;
        const asked = ask("elicitation/create", ASK_NAME, { signal: controller.signal }).catch(() => undefined);
        await asked;
        notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } });
        return text("did without");
      },
    });
    const { requestState } = await call("hasty", {}, { progressToken: "first" });
    controller.abort(new Error("no longer needed"));
    await new Promise((resolve) => void setImmediate(resolve));
    const finished = await call("hasty", { requestState }, { progressToken: "second" });
    expect(finished).toMatchObject(text("did without"));
    expect(notified.map(({ params }) => params)).toEqual([{ progressToken: "second", progress: 1 }]);
    expect(plane.exchanges).toHaveLength(1);
  });

  it("reports no progress to a repeat that did not ask for it", async () => {
    const { call, notified } = client({
      report: async (_args, { ask, notify, signal, params }) => {
        const { progressToken } = params["_meta"] as JsonObject;
        await ask("elicitation/create", ASK_NAME, { signal });
        notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } });
        return text("done");
      },
    });
    const { requestState } = await call("report", {}, { progressToken: "first" });
    expect(await call("report", { requestState, inputResponses: { "input-1": ADA } })).toMatchObject(text("done"));
    expect(notified).toEqual([]);
  });

  it("is not cancelled by the end of the request that was answered, but by that of its repeat", async () => {
    const { call, cancel, plane } = client({
      slow: async (_args, exchange) => {
        await exchange.ask("elicitation/create", ASK_NAME, { signal: exchange.signal });
        return new Promise(() => undefined);
      },
    });
    const { requestState } = await call("slow");
    cancel();
    expect(plane.exchanges[0]?.signal.aborted).toBe(false);
    const repeated = call("slow", { requestState, inputResponses: { "input-1": ADA } });
    cancel();
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(await repeated).toEqual({ error: undefined });
  });

  it("is refused where as many wait as may", async () => {
    const { call } = client({}, 1);
    const { requestState } = await call("greet");
    expect(await call("greet", { arguments: { b: 2 } })).toMatchObject({
      error: { code: -32603, message: "Too many calls wait for their clients' answers. Retry later." },
    });
    await call("greet", { requestState, inputResponses: { "input-1": ADA } });
    expect(await call("greet")).toMatchObject({ resultType: "input_required" });
  });

  it("is aborted when the server closes", async () => {
    const { call, close, plane, clock } = client();
    await call("greet");
    close();
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
