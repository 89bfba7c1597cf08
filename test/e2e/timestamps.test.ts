import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type ArsenalEvent, ToolArsenal } from "../../src/index.ts";
import { startModernServer } from "../mcp/upstream-server.ts";
import { runInMemory } from "./terminal.ts";

/** Every number under a key that says it is a point in time. */
function times(value: unknown, key = ""): readonly (readonly [string, number])[] {
  if (typeof value === "number") return /(?:At|^at|^last(?:Success|Failure))$/.test(key) ? [[key, value]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => times(each, Array.isArray(value) ? key : name));
}

it("gives every point in time in whole milliseconds", async () => {
  const folder = await mkdtemp(join(tmpdir(), "times-"));
  const server = await startModernServer();
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  const config = {
    mcp: { servers: [{ name: "sample", url: server.url }] },
    security: { require_confirmation: ["sample.report"] },
    state: { file: "./state.sqlite" },
    audit: { file: "./audit.jsonl" },
    telemetry: { enabled: false },
  };
  await writeFile(join(folder, "arsenal.yaml"), JSON.stringify(config));
  const found = new Map<string, number[]>();
  const note = (value: unknown): void => {
    for (const [key, time] of times(value)) found.set(key, [...(found.get(key) ?? []), time]);
  };
  for (const argv of [
    ["call", "sample.echo", "--args", '{"text":"hi"}'],
    ["call", "sample.report"],
    ["list"],
    ["pins", "accept", "--all"],
    ["pins", "list"],
    ["approvals", "list"],
  ])
    note(JSON.parse((await runInMemory([...argv, "--json"], { folder })).out));
  const { out } = await runInMemory(["audit", "tail", "--json"], { folder });
  for (const line of out.trimEnd().split("\n")) note(JSON.parse(line));

  const events: ArsenalEvent[] = [];
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  arsenal.subscribe((event) => void events.push(event));
  arsenal.register({ name: "add", description: "Adds two numbers.", parameters: { type: "object" } }, () => 1);
  note(await arsenal.execute({ toolName: "add" }));
  await arsenal.close();
  // The steps of a call are timed more finely: spans are made of them.
  note(events.map(({ at }) => ({ at })));

  for (const key of ["queuedAt", "startedAt", "completedAt", "createdAt", "seenAt", "requestedAt", "expiresAt", "at"])
    expect([...found.keys()]).toContain(key);
  expect([...found].filter(([, all]) => !all.every(Number.isInteger))).toEqual([]);
});
