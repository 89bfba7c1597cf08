import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { qdrantDouble } from "../../../../test/doubles/qdrant.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import { qdrantEngine } from "../qdrant.ts";

const tool = (name: string) => defineTool({ name, description: "Does something for somebody.", createdAt: 1 });

describe("a catalog in a vector database", () => {
  it("tells once of a change that becomes visible after a later one", async () => {
    const server = await qdrantDouble();
    const engine = qdrantEngine({ url: server.url });
    await engine.open();
    const { revision } = await engine.put([tool("early")]);
    const send = async (method: string, path: string, body: object): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${server.url}/collections/tool_arsenal/points${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { result: unknown }).result;
    };
    const filter = { must: [{ key: "kind", match: { any: ["tool"] } }] };
    const { points } = (await send("POST", "/scroll", { filter, with_payload: true, with_vector: true })) as {
      points: readonly { payload: object; vector: object }[];
    };
    const [point] = points;
    const payload = { ...point?.payload, key: "default.late", revision: revision - 1_000 };
    await send("PUT", "?wait=true", { points: [{ ...point, id: randomUUID(), payload }] });
    expect(await engine.changes(revision)).toEqual({ revision, changed: ["default.late"], deleted: [] });
    expect(await engine.changes(revision)).toEqual({ revision, changed: [], deleted: [] });
    await engine.close();
    await server.close();
  });

  it("gives growing revisions to processes whose clocks differ, and to one whose clock stands still", async () => {
    const server = await qdrantDouble();
    const [ahead, behind] = [3_600_000, 0].map((more) =>
      qdrantEngine({ url: server.url }, { clock: createManualClock(Date.UTC(2026, 0) + more) }),
    );
    await ahead?.open();
    await behind?.open();
    const revisions: number[] = [];
    for (const [at, engine] of [ahead, behind, behind, ahead, behind].entries())
      revisions.push((await engine?.put([tool(`t_${at}`)]))?.revision ?? 0);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(new Set(revisions).size).toBe(5);
    await ahead?.close();
    await behind?.close();
    await server.close();
  });

  it("remembers deletions for a week, and says when it no longer knows", async () => {
    const server = await qdrantDouble();
    const open = async (days: number) => {
      const clock = createManualClock(Date.UTC(2026, 0) + days * 24 * 3_600_000);
      const engine = qdrantEngine({ url: server.url }, { clock });
      await engine.open();
      return engine;
    };
    const first = await open(0);
    const { revision } = await first.put([tool("kept"), tool("gone")]);
    await first.delete(["default.gone"]);
    const soon = await open(6);
    expect(await soon.changes(revision)).toMatchObject({ deleted: ["default.gone"] });
    expect((await soon.changes(revision)).incomplete).toBeUndefined();
    const late = await open(9);
    expect(await late.changes(revision)).toMatchObject({ incomplete: true, deleted: [] });
    expect(await late.count()).toBe(1);
    for (const engine of [first, soon, late]) await engine.close();
    await server.close();
  });
});
