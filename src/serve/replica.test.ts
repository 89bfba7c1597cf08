import { afterEach, describe, expect, it } from "vitest";
import { type SharedMemory, sharedMemory } from "../../test/mcp/shared-memory.ts";
import type { JsonObject } from "../mcp/protocol.ts";
import { createReplica, type Replica, type ReplicaState } from "./replica.ts";

const open: Replica[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((replica) => replica.close()));
});

async function join(state: ReplicaState): Promise<Replica> {
  const replica = await createReplica(state);
  open.push(replica);
  return replica;
}

/** A process that answers `echo`, and one that asks it. */
async function pair(state: ReplicaState): Promise<readonly [asked: Replica, asking: Replica]> {
  const [asked, asking] = [await join(state), await join(state)];
  await asked.enter();
  asked.serve("echo", async (body, { note }) => {
    for (const number of [1, 2, 3]) note({ number });
    return { echo: body };
  });
  return [asked, asking];
}

const { signal } = new AbortController();
const BINDING = { principal: { id: "ada" }, plane: "all", method: "tools/call", params: {} };

/** The same state, where every write takes longer than the one after it. */
function slow(state: SharedMemory): ReplicaState {
  let turns = 16;
  const { documents } = state;
  return {
    ...state,
    documents: {
      ...documents,
      async set(key, value, options) {
        for (let turn = (turns /= 2); turn > 0.5; turn--) await new Promise((resolve) => void setImmediate(resolve));
        return documents.set(key, value, options);
      },
    },
  };
}

/** The same state, where everything that is published arrives twice. */
function repeating(state: SharedMemory): ReplicaState {
  const { changes } = state;
  const publish: typeof changes.publish = async (...given) => {
    await changes.publish(...given);
    await changes.publish(...given);
  };
  return { ...state, changes: { ...changes, publish } };
}

describe("processes that share a state", () => {
  it("open what any of them sealed, even if they started at the same moment", async () => {
    const state = sharedMemory();
    const replicas = await Promise.all([join(state), join(state), join(state)]);
    const sealed = replicas.map(({ seal }, index) => seal.seal({ index }, BINDING));
    for (const { seal } of replicas)
      expect(sealed.map((text) => seal.open(text, BINDING))).toEqual([{ index: 0 }, { index: 1 }, { index: 2 }]);
  });

  it.each([
    ["as it is", (state: SharedMemory): ReplicaState => state],
    ["with slow writes", slow],
    ["with a feed that tells everything twice", repeating],
  ])("hand each other requests, and get notes and answer in order: a state %s", async (_name, as) => {
    const [asked, asking] = await pair(as(sharedMemory()));
    const notes: JsonObject[] = [];
    const answer = await asking.call(asked.id, "echo", { text: "hi" }, { signal, note: (note) => notes.push(note) });
    expect([answer, notes]).toEqual([{ echo: { text: "hi" } }, [{ number: 1 }, { number: 2 }, { number: 3 }]]);
  });

  it("run a request once that is delivered twice", async () => {
    const [asked, asking] = await pair(repeating(sharedMemory()));
    let runs = 0;
    asked.serve("count", async () => ({ runs: ++runs }));
    expect(await asking.call(asked.id, "count", {}, { signal })).toEqual({ runs: 1 });
    expect(await asking.call(asked.id, "count", {}, { signal })).toEqual({ runs: 2 });
  });

  it("are refused what nobody there answers", async () => {
    const [asked, asking] = await pair(sharedMemory());
    await expect(asking.call(asked.id, "other", {}, { signal })).rejects.toMatchObject({ code: -32602 });
  });

  it("cannot read each other's mail", async () => {
    const state = sharedMemory();
    const [asked, asking] = await pair(state);
    const { set } = state.documents;
    const sealed: string[] = [];
    state.documents.set = (key, value, options) => (sealed.push(String(value)), set(key, value, options));
    const { id } = asked;
    await asking.call(id, "echo", { text: "secret" }, { signal });
    const binding = (to: string) => ({ principal: { id: to }, plane: "replica", method: "mail", params: {} });
    expect(sealed.map((text) => [asked, asking].map((to) => to.seal.open(text, binding(to.id)) !== undefined))).toEqual(
      [[true, false], ...Array.from({ length: 4 }, () => [false, true])],
    );
    expect(sealed.join("")).not.toContain("secret");
  });

  it("are known as gone after they closed, and what they still had to say arrives", async () => {
    const [asked, asking] = await pair(sharedMemory());
    const begun = Promise.withResolvers<void>();
    asked.serve("wait", (_body, context) => {
      begun.resolve();
      return new Promise((resolve) =>
        context.signal.addEventListener("abort", () => resolve({ said: "as I was leaving" })),
      );
    });
    const answer = asking.call(asked.id, "wait", {}, { signal });
    await begun.promise;
    await asked.close();
    expect(await answer).toEqual({ said: "as I was leaving" });
    expect(await asking.isPresent(asked.id)).toBe(false);
    await expect(asking.call(asked.id, "echo", {}, { signal })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });
});

describe("a process whose state is away", () => {
  it("seals for itself if it was away at the start", async () => {
    const state = sharedMemory();
    state.broken = true;
    const { seal } = await join(state);
    expect(seal.open(seal.seal({ a: 1 }, BINDING), BINDING)).toEqual({ a: 1 });
  });

  it("refuses what another one would have to answer, without saying where the state is", async () => {
    const state = sharedMemory();
    const [asked, asking] = await pair(state);
    state.broken = true;
    await expect(asking.call(asked.id, "echo", {}, { signal })).rejects.toMatchObject({
      code: "STORE_FAILED",
      message:
        "The gateway cannot reach the state that it shares with its other processes. Repeat the request in a moment.",
    });
  });
});
