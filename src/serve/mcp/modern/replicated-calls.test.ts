import { afterEach, describe, expect, it } from "vitest";
import { messagesOf, modern } from "../../../../test/mcp/sample-endpoint.ts";
import { ASK_NAME, type SampleTool, text } from "../../../../test/mcp/sample-plane.ts";
import { type Gateway, type TwoGateways, twoGateways } from "../../../../test/mcp/two-gateways.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import { createWork } from "../../work.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";

const open: TwoGateways[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateways) => gateways.close()));
});

async function start(...given: Parameters<typeof twoGateways>): Promise<TwoGateways> {
  const gateways = await twoGateways(...given);
  open.push(gateways);
  return gateways;
}

const ABILITIES = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
const ADA = { action: "accept", content: { name: "Ada Lovelace" } };
const ANSWERED = { "input-1": ADA };
const REFUSED = { code: -32602, message: "The requestState is not valid for this request." };

function send(
  { post }: Gateway,
  name: string,
  more: JsonObject = {},
  options: { readonly meta?: JsonObject; readonly caller?: string; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const message = modern(1, "tools/call", { name, arguments: {}, ...more }, { ...ABILITIES, ...options.meta });
  return post(message, { "x-caller": options.caller ?? "ada" }, options.signal);
}

async function call(...given: Parameters<typeof send>): Promise<JsonObject> {
  const { result, error } = (await (await send(...given)).json()) as Record<string, JsonObject>;
  return result ?? { error };
}

describe("a call that waits in one process, repeated at another", () => {
  it("goes on with the answers, and its result comes back", async () => {
    const { a, b } = await start();
    const { requestState } = await call(a, "greet");
    expect(await call(b, "greet", { requestState, inputResponses: ANSWERED })).toMatchObject(
      text("Hello Ada Lovelace"),
    );
    expect([a.plane.exchanges.length, b.plane.exchanges.length]).toEqual([1, 0]);
  });

  it("may ask again, and be answered at a third place", async () => {
    const { a, b } = await start({
      twice: async (_args, { ask, signal }) => {
        const first = await ask("elicitation/create", ASK_NAME, { signal });
        return text(JSON.stringify([first, await ask("elicitation/create", ASK_NAME, { signal })]));
      },
    });
    const first = await call(a, "twice");
    const second = await call(b, "twice", { requestState: first["requestState"], inputResponses: ANSWERED });
    expect(second).toMatchObject({ resultType: "input_required", inputRequests: { "input-2": {} } });
    const last = { requestState: second["requestState"], inputResponses: { "input-2": { action: "cancel" } } };
    expect(await call(b, "twice", { ...last, requestState: first["requestState"] })).toEqual({ error: REFUSED });
    expect(await call(a, "twice", last)).toMatchObject(text(JSON.stringify([ADA, { action: "cancel" }])));
  });

  it("reports progress to the repeat, under its own token", async () => {
    const { a, b } = await start({
      report: async (_args, { ask, notify, signal, params }) => {
        const { progressToken } = params["_meta"] as JsonObject;
        await ask("elicitation/create", ASK_NAME, { signal });
        for (const progress of [1, 2])
          notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } });
        return text("done");
      },
    });
    const { requestState } = await call(a, "report", {}, { meta: { progressToken: "first" } });
    const repeat = { requestState, inputResponses: ANSWERED };
    expect(await messagesOf(await send(b, "report", repeat, { meta: { progressToken: "second" } }))).toMatchObject([
      { params: { progressToken: "second", progress: 1 } },
      { params: { progressToken: "second", progress: 2 } },
      { result: text("done") },
    ]);
  });

  it("fails with the tool's own error", async () => {
    const { a, b } = await start({
      refuse: async (_args, { ask, signal }) => {
        await ask("elicitation/create", ASK_NAME, { signal });
        throw new Error("cannot read /home/someone/secret");
      },
    });
    const { requestState } = await call(a, "refuse");
    expect(await call(b, "refuse", { requestState, inputResponses: ANSWERED })).toEqual({
      error: { code: -32603, message: "Internal error: the request could not be answered." },
    });
  });

  it("is cancelled where it runs when the client gives up on the repeat", async () => {
    const answered = Promise.withResolvers<void>();
    const { a, b } = await start({ hang: hangAfter(answered.resolve) });
    const { requestState } = await call(a, "hang");
    const controller = new AbortController();
    const repeated = send(b, "hang", { requestState, inputResponses: ANSWERED }, { signal: controller.signal });
    const { signal } = a.plane.exchanges[0] ?? {};
    const aborted = new Promise((resolve) => signal?.addEventListener("abort", resolve));
    await answered.promise;
    controller.abort();
    await expect(repeated).rejects.toThrow();
    await aborted;
    expect(signal?.reason).toMatchObject({ code: "CANCELLED" });
  });

  it("is waited for when the process that got the repeat shuts down", async () => {
    const [answered, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = createWork();
    const slow: SampleTool = async (_args, { ask, signal }) => {
      await ask("elicitation/create", ASK_NAME, { signal });
      answered.resolve();
      await finish.promise;
      return text("finished");
    };
    const { a, b } = await start({ slow }, { work });
    const { requestState } = await call(a, "slow");
    const repeated = call(b, "slow", { requestState, inputResponses: ANSWERED });
    await answered.promise;
    expect(work.pending).toBe(1);
    const drained = work.drain(60_000);
    finish.resolve();
    expect(await repeated).toMatchObject(text("finished"));
    await drained;
  });

  it("is unknown to another caller, and good for one repeat", async () => {
    const { a, b } = await start();
    const { requestState } = await call(a, "greet");
    const repeat = { requestState, inputResponses: ANSWERED };
    expect(await call(b, "greet", repeat, { caller: "eve" })).toEqual({ error: REFUSED });
    expect(await call(b, "greet", { ...repeat, arguments: { other: true } })).toEqual({ error: REFUSED });
    expect(await call(b, "greet", repeat)).toMatchObject(text("Hello Ada Lovelace"));
    expect(await call(b, "greet", repeat)).toEqual({ error: REFUSED });
  });

  it("has an unknown outcome if its process has ended", async () => {
    const { a, b } = await start();
    const { requestState } = await call(a, "greet");
    await a.replica.close();
    expect(await call(b, "greet", { requestState, inputResponses: ANSWERED })).toEqual({
      error: {
        code: -32007,
        message:
          "The gateway process that was running this call ended, so its outcome is unknown. Check whether the call took effect before you repeat it.",
        data: { code: "OUTCOME_UNKNOWN" },
      },
    });
  });

  it("has an unknown outcome if its process ends while it runs", async () => {
    const clock = createManualClock();
    const answered = Promise.withResolvers<void>();
    const { a, b, state } = await start({ hang: hangAfter(answered.resolve) }, { clock });
    const { requestState } = await call(a, "hang");
    const repeated = call(b, "hang", { requestState, inputResponses: ANSWERED });
    await answered.promise;
    state.loseLeases();
    await clock.advance(2_000);
    expect(await repeated).toMatchObject({ error: { data: { code: "OUTCOME_UNKNOWN" } } });
  });

  it("leaves neither questions nor answers readable in the state", async () => {
    const { a, b, state } = await start();
    const kept: unknown[] = [];
    const { set } = state.documents;
    state.documents.set = (key, value, options) => (kept.push([key, value]), set(key, value, options));
    const { requestState } = await call(a, "greet");
    expect(kept).toEqual([]);
    await call(b, "greet", { requestState, inputResponses: ANSWERED });
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify(kept)).not.toContain("Lovelace");
    expect(await state.documents.list("mcp/mail/")).toEqual([]);
  });
});

/** A tool that asks, says that it was answered, and never ends. */
function hangAfter(answered: () => void): SampleTool {
  return async (_args, { ask, signal }) => {
    await ask("elicitation/create", ASK_NAME, { signal });
    answered();
    return new Promise(() => undefined);
  };
}

describe("a call that can start over from its question", () => {
  const ran: JsonObject[] = [];
  const careful: SampleTool = async (_args, { ask, signal, resumed, params }) => {
    ran.push({ resumed, requestState: params["requestState"], inputResponses: params["inputResponses"] });
    const { answer } = resumed ?? {};
    const given = answer ?? (await ask("elicitation/create", ASK_NAME, { signal, resume: { step: 1 } }));
    return text(JSON.stringify(given));
  };
  afterEach(() => void ran.splice(0));

  it("leaves nothing in the process that asked, and goes on at another after that one has ended", async () => {
    const { a, b } = await start({ careful });
    const { requestState, inputRequests } = await call(a, "careful");
    expect(inputRequests).toMatchObject({ "input-1": { method: "elicitation/create" } });
    expect(a.plane.exchanges[0]?.signal.aborted).toBe(true);
    await a.replica.close();
    expect(await call(b, "careful", { requestState, inputResponses: ANSWERED })).toMatchObject(
      text(JSON.stringify(ADA)),
    );
    expect(ran).toEqual([{}, { resumed: { state: { step: 1 }, answer: ADA } }]);
  });

  it("asks again, under the same key, if the repeat leaves the answer out", async () => {
    const { a, b } = await start({ careful });
    const { requestState } = await call(a, "careful");
    const again = await call(b, "careful", { requestState, inputResponses: {} });
    expect(again).toMatchObject({ resultType: "input_required", inputRequests: { "input-1": {} } });
    const { requestState: next } = again;
    expect(await call(a, "careful", { requestState: next, inputResponses: ANSWERED })).toMatchObject(
      text(JSON.stringify(ADA)),
    );
  });

  it("gives the plane back what the first request answered it with", async () => {
    const { a, b } = await start({ careful });
    const first = { requestState: "the plane's own", inputResponses: { theirs: { action: "decline" } } };
    const { requestState } = await call(a, "careful", first);
    await call(b, "careful", { requestState, inputResponses: ANSWERED });
    expect(ran).toEqual([first, { ...first, resumed: { state: { step: 1 }, answer: ADA } }]);
  });

  it("is bound to its caller and its request", async () => {
    const { a, b } = await start({ careful });
    const { requestState } = await call(a, "careful");
    const repeat = { requestState, inputResponses: ANSWERED };
    expect(await call(b, "careful", repeat, { caller: "eve" })).toEqual({ error: REFUSED });
    expect(await call(b, "careful", { ...repeat, arguments: { other: true } })).toEqual({ error: REFUSED });
  });
});
