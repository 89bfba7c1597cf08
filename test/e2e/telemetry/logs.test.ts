import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runInMemory } from "../terminal.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-logs-"));
  writeFileSync(
    join(folder, "tools.mjs"),
    `export default (arsenal) => void arsenal.register(
      { name: "echo", description: "Repeats a text.", parameters: { type: "object" } }, () => "done");`,
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a call writes to stderr under this telemetry. */
async function log(telemetry: string): Promise<string> {
  writeFileSync(join(folder, "arsenal.yaml"), `modules: [./tools.mjs]\ntelemetry: ${telemetry}\n`);
  return (await runInMemory(["search", "repeat a text"], { folder })).err;
}

it("logs each stage at its own level, with the trace it belongs to", async () => {
  const lines = (await log("{ level: warn, log_levels: { retrieve: info } }")).split("\n");
  const events = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as object);
  expect(events).toMatchObject([
    { stage: "retrieve", event: "retrieval-finished", traceId: expect.any(String) as string },
  ]);
});

it("logs lines for people wherever it is told to", async () => {
  expect(await log("{ level: info, log_format: pretty }")).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}retrieve retrieval-finished .*trace=[0-9a-f]{32}$/m,
  );
});
