import { type Task, TaskState } from "@a2a-js/sdk";
import { describe, expect, it } from "vitest";
import { memoryState } from "../../../adapters/state/memory.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { createReplica } from "../../mcp/replica.ts";
import { ownerContext, ownerOf } from "../call-context.ts";
import { textPart } from "../events.ts";
import { createSharedTasks, type SharedTasks } from "./task-store.ts";

const ADA = ownerContext("ada");
const HOUR_MS = 3_600_000;

async function store(): Promise<{ tasks: SharedTasks; clock: ReturnType<typeof createManualClock> }> {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const replica = await createReplica(memoryState({ clock }), { clock });
  return { tasks: createSharedTasks(replica, { ttlMs: HOUR_MS, clock }), clock };
}

function task(id: string, at: number, more: Partial<Task> = {}): Task {
  const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: new Date(at).toISOString() };
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

  it("leaves out an artifact that is larger than is kept, and says so", async () => {
    const { tasks, clock } = await store();
    const artifact = {
      artifactId: "big",
      name: "big",
      description: "",
      parts: [textPart("x".repeat(5 * 1024 * 1024))],
      metadata: undefined,
      extensions: [],
    };
    await tasks.save(task("big", clock.now(), { artifacts: [artifact] }), ADA);
    const kept = await tasks.load("big", ADA);
    expect(kept?.artifacts[0]?.parts).toEqual([textPart(expect.stringContaining("left out") as string)]);
  });

  it("makes room for new ones: the oldest ended go first, and none that runs", async () => {
    const { tasks, clock } = await store();
    const running = { ...task("running", 0).status, state: TaskState.TASK_STATE_WORKING, message: undefined };
    await tasks.save(task("running", 0, { status: { ...running, timestamp: new Date(0).toISOString() } }), ADA);
    for (let index = 1; index <= 1_100; index++) {
      const at = clock.now() + index;
      const started = {
        state: TaskState.TASK_STATE_SUBMITTED,
        message: undefined,
        timestamp: new Date(at).toISOString(),
      };
      await tasks.save(task(`task-${index}`, at, { status: started }), ADA);
      await tasks.save(task(`task-${index}`, at), ADA);
    }
    const { totalSize } = await tasks.list(ALL, ADA);
    expect(totalSize).toBeLessThanOrEqual(1_050);
    expect(await tasks.load("running", ADA)).toBeDefined();
    expect(await tasks.load("task-1", ADA)).toBeUndefined();
    expect(await tasks.load("task-1100", ADA)).toBeDefined();
  });
});
