import { type Artifact, Message, type Part, Task, TaskState } from "@a2a-js/sdk";
import { array, assert, asyncProperty, oneof, string, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { contentOf } from "../../../../test/serve/a2a-clients.ts";
import { memoryState } from "../../../adapters/state/memory.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { createReplica } from "../../replica.ts";
import { ownerContext, ownerOf } from "../call-context.ts";
import { agentMessage, dataPart, textPart } from "../events.ts";
import { bytesLeftOut, cutMessage, cutTask, MOST_TASK_BYTES } from "./kept-task.ts";
import { bookAttachment, placeOf, pushKey, runKey } from "./task-index.ts";
import { createSharedTasks, type SharedTasks } from "./task-store.ts";
import { repeats } from "../../../../test/kit/effort.ts";

const ADA = ownerContext("ada");
const HOUR_MS = 3_600_000;

async function store(isRunning?: (taskId: string) => boolean) {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { documents, ...state } = memoryState({ clock });
  const replica = await createReplica({ ...state, documents }, { clock });
  const tasks = createSharedTasks(replica, { ttlMs: HOUR_MS, clock, ...(isRunning && { isRunning }) });
  return { tasks, clock, documents, replica };
}

const artifact = (text: string): Artifact => ({
  artifactId: "made",
  name: "made",
  description: "",
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
});

const COMPLETED = { state: TaskState.TASK_STATE_COMPLETED, message: undefined };

/** A process looks for room again after some new tasks. */
async function makeRoomForMany(tasks: SharedTasks, context = ADA): Promise<void> {
  for (let index = 0; index < 33; index++) await tasks.makeRoom(context);
}

function inState(id: string, at: number, state: TaskState): Task {
  return task(id, at, { status: { state, message: undefined, timestamp: new Date(at).toISOString() } });
}

function task(id: string, at: number, more: Partial<Task> = {}): Task {
  const status = { ...COMPLETED, timestamp: new Date(at).toISOString() };
  return { id, contextId: "c", status, artifacts: [], history: [], metadata: undefined, ...more };
}

const ALL = {
  tenant: "",
  contextId: "",
  status: 0,
  pageSize: 100,
  pageToken: "",
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: true,
};

describe("a stored task", () => {
  it("is its owner's alone, also if another chose the same id", async () => {
    const { tasks, clock } = await store();
    await tasks.save(task("same", clock.now()), ADA);
    expect(await tasks.load("same", ownerContext("bob"))).toBeUndefined();
    await tasks.save(task("same", clock.now(), { contextId: "bobs" }), ownerContext("bob"));
    expect((await tasks.load("same", ADA))?.contextId).toBe("c");
    expect((await tasks.list(ALL, ADA)).totalSize).toBe(1);
  });

  it("is not another's whose id is made to look like its owner's tenant and id", async () => {
    const { tasks, clock } = await store();
    await tasks.save(task("hers", clock.now()), ownerContext(ownerOf({ tenant: "acme", id: "ada" })));
    const lookalike = ownerOf({ id: JSON.stringify(["acme", "ada"]) });
    expect(await tasks.load("hers", ownerContext(lookalike))).toBeUndefined();
  });

  it("is forgotten when it has not changed for its time", async () => {
    const { tasks, clock } = await store();
    await tasks.save(task("old", clock.now()), ADA);
    await clock.advance(HOUR_MS - 1);
    expect(await tasks.load("old", ADA)).toBeDefined();
    await clock.advance(1);
    expect(await tasks.load("old", ADA)).toBeUndefined();
  });

  it("keeps the beginning of an artifact that is larger than is kept, and says how much it left out", async () => {
    const { tasks, clock } = await store();
    await tasks.save(task("big", clock.now(), { artifacts: [artifact("x".repeat(5 * 1024 * 1024))] }), ADA);
    const kept = await tasks.load("big", ADA);
    const [beginning, note] = contentOf(kept?.artifacts[0]?.parts) as [string, string];
    expect(beginning).toMatch(/^x{100000,}$/);
    expect(note).toMatch(/^\d+ bytes were left out when this was stored\.$/);
    expect(Number.parseInt(note)).toBeGreaterThan(4.5 * 1024 * 1024);
  });

  it("makes room for new ones: the oldest ended go first, and none that runs", async () => {
    const { tasks, clock } = await store();
    await tasks.save(inState("running", 0, TaskState.TASK_STATE_WORKING), ADA);
    await tasks.save(inState("waiting", 0, TaskState.TASK_STATE_INPUT_REQUIRED), ADA);
    for (let index = 1; index <= 1_100; index++) {
      const at = clock.now() + index;
      await tasks.makeRoom(ADA);
      await tasks.save(inState(`task-${index}`, at, TaskState.TASK_STATE_SUBMITTED), ADA);
      await tasks.save(task(`task-${index}`, at), ADA);
    }
    const { totalSize } = await tasks.list(ALL, ADA);
    expect(totalSize).toBeLessThanOrEqual(1_050);
    expect(await tasks.load("running", ADA)).toBeDefined();
    expect(await tasks.load("waiting", ADA)).toBeDefined();
    expect(await tasks.load("task-1", ADA)).toBeUndefined();
    expect(await tasks.load("task-1100", ADA)).toBeDefined();
  });

  it("is bounded by bytes, per caller: others keep theirs", async () => {
    const { tasks, clock, documents } = await store();
    const BOB = ownerContext("bob");
    await tasks.save(task("bobs", clock.now()), BOB);
    for (let index = 1; index <= 120; index++) {
      await tasks.makeRoom(ADA);
      await tasks.save(task(`task-${index}`, clock.now() + index, { artifacts: [artifact("x".repeat(400_000))] }), ADA);
    }
    const kept = await documents.list("a2a/");
    expect(JSON.stringify(kept).length).toBeLessThan(19 * 1024 * 1024);
    expect(await tasks.load("task-120", ADA)).toBeDefined();
    expect((await tasks.list(ALL, BOB)).tasks).toMatchObject([{ id: "bobs" }]);
  });

  it("takes its notifications and its saved run along when it makes room", async () => {
    const { tasks, clock, documents } = await store();
    const owner = "ada";
    await tasks.save(task("first", clock.now()), ADA);
    for (const [kind, key] of [
      ["push", pushKey(owner, "first")],
      ["run", runKey(owner, "first")],
    ] as const) {
      await documents.set(key, "sealed");
      const taskId = "first";
      await bookAttachment(documents, kind, { owner, taskId, bytes: 9_000_000, expiresAt: clock.now() + HOUR_MS });
    }
    await makeRoomForMany(tasks);
    expect(await documents.keys("a2a/")).toEqual([]);
  });

  it("is refused if everything that its caller has still runs", async () => {
    const { tasks, clock } = await store();
    for (let index = 0; index < 1_100; index++)
      await tasks.save(inState(`task-${index}`, clock.now(), TaskState.TASK_STATE_WORKING), ADA);
    await expect(makeRoomForMany(tasks)).rejects.toThrow(/1000 tasks.*still run.*Cancel one/);
    await expect(tasks.makeRoom(ADA)).rejects.toThrow(/still run/);
    await expect(makeRoomForMany(tasks, ownerContext("bob"))).resolves.toBeUndefined();
  });

  it("goes when it was created and never ran", async () => {
    const { tasks, clock } = await store(() => false);
    for (let index = 0; index < 1_100; index++)
      await tasks.save(inState(`task-${index}`, clock.now(), TaskState.TASK_STATE_SUBMITTED), ADA);
    await clock.advance(60_000);
    await makeRoomForMany(tasks);
    expect((await tasks.list(ALL, ADA)).totalSize).toBeLessThan(1_000);
  });

  it("is listed with others only as far as a page has room", async () => {
    const { tasks, clock } = await store();
    for (let index = 0; index < 10; index++)
      await tasks.save(task(`task-${index}`, clock.now() + index, { artifacts: [artifact("x".repeat(250_000))] }), ADA);
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await tasks.list({ ...ALL, pageToken }, ADA);
      expect(page.tasks.length).toBeLessThanOrEqual(4);
      expect(page.totalSize).toBe(10);
      ids.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(ids).toEqual(Array.from({ length: 10 }, (_, index) => `task-${9 - index}`));
  });

  it("is read from the index alone, until it is shown", async () => {
    const { tasks, clock, replica } = await store();
    for (let index = 0; index < 40; index++) await tasks.save(task(`task-${index}`, clock.now() + index), ADA);
    const { documents } = replica.state;
    const reads: string[] = [];
    const get = documents.get.bind(documents);
    documents.get = (key, ...rest) => (reads.push(key), get(key, ...rest));
    await tasks.list({ ...ALL, pageSize: 3 }, ADA);
    expect(reads).toHaveLength(3);
    await makeRoomForMany(tasks);
    expect(reads).toHaveLength(3);
  });
});

describe("a task that an earlier release stored", () => {
  const old = (id: string, more: Partial<Task> = {}): unknown => ({
    task: Task.toJSON(task(id, Date.UTC(2026, 0, 1), more)),
  });
  const keyOf = (id: string): string => `a2a/task/${placeOf("ada", id)}`;

  it("is read, listed, and cut to what is kept now", async () => {
    const { tasks, documents } = await store();
    await documents.set(keyOf("old"), old("old"));
    await documents.set(keyOf("large"), old("large", { artifacts: [artifact("x".repeat(3_000_000))] }));
    expect(await tasks.load("old", ADA)).toMatchObject({ id: "old" });
    expect((await tasks.list(ALL, ADA)).tasks.map(({ id }) => id).toSorted()).toEqual(["large", "old"]);
    const stored = await documents.get(keyOf("large"));
    expect(JSON.stringify(stored?.value).length).toBeLessThan(400_000);
  });

  it("is dropped if its id is too long to be asked for", async () => {
    const { tasks, documents } = await store();
    const id = "i".repeat(300);
    await documents.set(keyOf(id), old(id));
    expect((await tasks.list(ALL, ADA)).totalSize).toBe(0);
    expect(await documents.keys("a2a/")).toEqual([]);
  });
});

describe("what is kept for one caller", () => {
  const content = oneof(
    string({ maxLength: 40_000 }).map((value) => textPart(value)),
    string({ unit: "binary", maxLength: 20_000 }).map((value) => textPart(value)),
    array(string({ maxLength: 200 }), { maxLength: 400 }).map((value) => dataPart(value)),
    uint8Array({ maxLength: 60_000 }).map((value): Part => ({
      ...textPart(""),
      content: { $case: "raw", value: Buffer.from(value) },
    })),
  );
  const parts = array(content, { maxLength: 30 });
  const message = parts.map((each) => agentMessage(each, { taskId: "t", contextId: "c" }));
  const made = parts.map((each) => ({ ...artifact(""), parts: each }));

  it("is bounded, whatever its messages and artifacts are", async () => {
    await assert(
      asyncProperty(
        array(message, { maxLength: 12 }),
        array(made, { maxLength: 4 }),
        message,
        async (history, artifacts, said) => {
          const { json, bytes } = cutTask(
            task("t", 0, { history, artifacts, status: { ...COMPLETED, message: said, timestamp: "" } }),
          );
          expect(bytes).toBe(Buffer.byteLength(JSON.stringify(json)));
          expect(bytes).toBeLessThanOrEqual(MOST_TASK_BYTES);
          const again = cutTask(Task.fromJSON(json));
          expect(again.bytes).toBeLessThanOrEqual(MOST_TASK_BYTES);
          for (const each of history) {
            const kept = Buffer.byteLength(JSON.stringify(Message.toJSON(cutMessage(each))));
            expect(kept).toBeLessThanOrEqual(8 * 1024);
          }
        },
      ),
      { numRuns: repeats(60) },
    );
  });

  it("says how much was left out in all, also if it is cut again", () => {
    const first = cutMessage(agentMessage([textPart("x".repeat(100_000))], { taskId: "t", contextId: "c" }));
    const grown = { ...first, parts: [...first.parts, textPart("y".repeat(50_000))] };
    const [before, after] = [bytesLeftOut(first), bytesLeftOut(cutMessage(grown))];
    expect(before).toBeGreaterThan(91_000);
    expect(after - before).toBeGreaterThan(50_000);
    expect(after - before).toBeLessThan(51_000);
  });
});
