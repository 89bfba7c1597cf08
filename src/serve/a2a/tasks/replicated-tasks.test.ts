import type { Task } from "@a2a-js/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { A2A_WAYS, asking, eventText, outcomeOf, readEvents } from "../../../../test/serve/a2a-clients.ts";
import { ticketArsenal } from "../../../../test/mcp/toolset-gateway.ts";
import { memoryState } from "../../../adapters/state/memory.ts";
import type { ToolArsenal } from "../../../arsenal.ts";
import { localOperator } from "../../../guard/principal.ts";
import type { SharedState } from "../../../state/shared-state.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Gateway {
  readonly arsenal: ToolArsenal;
  readonly url: string;
  /** Resolves when the tool `wait` runs. */
  readonly started: Promise<void>;
  /** Lets the tool `wait` end. */
  finish(): void;
  /** How the tool `wait` was stopped. */
  readonly stopped: Promise<string>;
  close(): Promise<void>;
}

async function serve(state: SharedState): Promise<Gateway> {
  // The state is everybody's: it does not close with one of them.
  const arsenal = ticketArsenal({}, { state: { ...state, close: async () => undefined } });
  const [started, stopped, finished] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<string>(),
    Promise.withResolvers<string>(),
  ];
  arsenal.register({ name: "wait", namespace: "support", description: "Waits." }, (_args, { signal }) => {
    started.resolve();
    signal.addEventListener("abort", () => {
      stopped.resolve("stopped");
      finished.reject(new Error("stopped"));
    });
    return finished.promise;
  });
  arsenal.register(
    { name: "refund", namespace: "support", description: "Pays back.", requiresConfirmation: true },
    () => "paid",
  );
  const gateway = await arsenal.serve({ port: 0, drainMs: 0 });
  const close = async (): Promise<void> => {
    await gateway.close();
    await arsenal.close();
  };
  ends.push(close);
  return {
    arsenal,
    url: gateway.url ?? "",
    started: started.promise,
    finish: () => finished.resolve("done"),
    stopped: stopped.promise,
    close,
  };
}

const WAIT = { tool: "support.wait" };

describe.each(A2A_WAYS)("a task that one process runs, asked for at another over $name", ({ connect }) => {
  async function two(): Promise<{ a: Gateway; b: Gateway; id: string; atB: Awaited<ReturnType<typeof connect>> }> {
    const state = memoryState();
    const [a, b] = [await serve(state), await serve(state)];
    const started = await (await connect(a.url)).sendMessage(asking(WAIT, { returnImmediately: true }));
    await a.started;
    return { a, b, id: (started as Task).id, atB: await connect(b.url) };
  }

  it("is read, and followed to its end", async () => {
    const { a, atB, id } = await two();
    expect(outcomeOf(await atB.getTask({ id, tenant: "" })).state).toMatch(/submitted|working/);
    const stream = atB.resubscribeTask({ id, tenant: "" });
    const first = await stream.next();
    expect(first.done === true ? "" : eventText(first.value)).toMatch(/^task (submitted|working)/);
    a.finish();
    expect((await readEvents(stream)).slice(-2)).toEqual(['artifact "done"', "completed"]);
    expect(outcomeOf(await atB.getTask({ id, tenant: "" }))).toMatchObject({ state: "completed", made: ["done"] });
  });

  it("is cancelled where it runs", async () => {
    const { a, atB, id } = await two();
    expect(outcomeOf(await atB.cancelTask({ id, tenant: "", metadata: {} })).state).toBe("canceled");
    expect(await a.stopped).toBe("stopped");
  });

  it("takes no second message while it runs", async () => {
    const { atB, id } = await two();
    await expect(atB.sendMessage(asking(WAIT, { taskId: id }))).rejects.toThrow(/still running/);
  });

  it("goes on at another process when it waited for an approval, and a third one follows it", async () => {
    const state = memoryState();
    const [a, b, c] = [await serve(state), await serve(state), await serve(state)];
    const asked = (await (await connect(a.url)).sendMessage(asking({ tool: "support.refund" }))) as Task;
    const { confirmationId } = outcomeOf(asked).said[1] as { readonly confirmationId: string };
    const { id: taskId, contextId } = asked;
    const followed = (await connect(c.url)).resubscribeTask({ id: taskId, tenant: "" });
    await followed.next();
    await b.arsenal.approvals.answer(confirmationId, "approve", localOperator({ id: "boss" }));
    const answered = await (await connect(b.url)).sendMessage(asking({ confirmationId }, { taskId, contextId }));
    expect(outcomeOf(answered)).toMatchObject({ state: "completed", made: ["paid"] });
    const events = await readEvents(followed);
    expect(events).toContain('artifact "paid"');
    expect(events.at(-1)).toBe("completed");
  });
});

describe("a task whose process is gone", () => {
  it("has failed, and says that nobody knows its outcome", async () => {
    const state = memoryState();
    const documents = { ...state.documents };
    const [way] = A2A_WAYS;
    const a = await serve(state);
    const started = (await (await way.connect(a.url)).sendMessage(asking(WAIT, { returnImmediately: true }))) as Task;
    await a.started;
    // As if the process had been killed: what it still writes is lost.
    const kept = await documents.list("a2a/task/");
    await a.close();
    for (const { key, value } of kept) await documents.set(key, value);
    const b = await serve(state);
    const client = await way.connect(b.url);
    const { id } = started;
    const { state: status, said } = outcomeOf(await client.getTask({ id, tenant: "" }));
    expect(status).toBe("failed");
    expect(said[0]).toContain("its outcome is unknown");
    await expect(client.cancelTask({ id, tenant: "", metadata: {} })).rejects.toThrow(/not cancelable/i);
  });
});

describe("a task whose end cannot be stored", () => {
  it("has failed once the store is back, and says that nobody knows its outcome", async () => {
    const state = memoryState();
    let isAway = false;
    const set: typeof state.documents.set = async (...given) => {
      if (isAway && given[0].startsWith("a2a/task/")) throw new Error("the store is away");
      return state.documents.set(...given);
    };
    const gateway = await serve({ ...state, documents: { ...state.documents, set } });
    const [way] = A2A_WAYS;
    const client = await way.connect(gateway.url);
    const stream = client.sendMessageStream(asking(WAIT));
    const first = await stream.next();
    const id = first.value?.payload?.$case === "task" ? first.value.payload.value.id : "";
    await stream.next();
    await gateway.started;
    isAway = true;
    gateway.finish();
    await expect(readEvents(stream)).rejects.toThrow(/failed to answer|store/);
    isAway = false;
    const { state: status, said } = outcomeOf(await client.getTask({ id, tenant: "" }));
    expect(status).toBe("failed");
    expect(said[0]).toContain("its outcome is unknown");
  });
});

describe("tasks", () => {
  it("are listed by page, newest first, to their owner", async () => {
    const gateway = await serve(memoryState());
    const [way] = A2A_WAYS;
    const client = await way.connect(gateway.url);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push(((await client.sendMessage(asking("pay"))) as Task).id);
    const asked = {
      tenant: "",
      contextId: "",
      status: 0,
      pageSize: 2,
      pageToken: "",
      historyLength: undefined,
      statusTimestampAfter: undefined,
      includeArtifacts: false,
    };
    const seen: string[] = [];
    for (let pageToken = ""; ;) {
      const { tasks, nextPageToken, totalSize } = await client.listTasks({ ...asked, pageToken });
      expect(totalSize).toBe(5);
      seen.push(...tasks.map(({ id }) => id));
      if (nextPageToken === "") break;
      pageToken = nextPageToken;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    await expect(client.listTasks({ ...asked, pageToken: "nonsense" })).rejects.toThrow(/pageToken/);
  });
});

it("forgets a reader of a waiting task who hangs up", async () => {
  const state = memoryState();
  const left = Promise.withResolvers<void>();
  let listening = 0;
  const { changes } = state;
  const watched: SharedState = {
    ...state,
    changes: {
      ...changes,
      subscribe(topic, listener) {
        const end = changes.subscribe(topic, listener);
        if (topic !== "a2a/continued") return end;
        listening++;
        return () => {
          end();
          listening--;
          left.resolve();
        };
      },
    },
  };
  const { url } = await serve(watched);
  const client = await A2A_WAYS[0].connect(url);
  const { id } = (await client.sendMessage(asking({ tool: "support.refund" }))) as Task;
  const reading = new AbortController();
  const stream = client.resubscribeTask({ id, tenant: "" }, { signal: reading.signal });
  await stream.next();
  expect(listening).toBe(1);
  reading.abort();
  await left.promise;
  expect(listening).toBe(0);
});
