import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";
import { sqliteState } from "../../../adapters/state/sqlite.ts";
import { createPins } from "../../../guard/pins/create-pins.ts";
import type { PinGuard } from "../../../guard/pins/pins.ts";
import { localOperator } from "../../../guard/principal.ts";
import type { SharedState } from "../../../state/shared-state.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { normaliseTool } from "../../../tool/normalise/normalise-tool.ts";
import type { Tool } from "../../../tool/tool.ts";

let folder: string;
let state: SharedState;
let serving: PinGuard;

const AT = Date.UTC(2026, 6, 28);

/** A tool as a server offers it to the process that serves. */
function tool(description: string): Tool {
  const raw = { name: "look", description, annotations: { readOnlyHint: true } };
  const draft = { name: "look", description, annotations: { readOnly: true }, sourceMeta: { mcp: raw } };
  return normaliseTool(draft, { source: "mcp", namespace: "web", ensemble: "web", createdAt: 0 });
}

const offer = (description: string): Promise<unknown> =>
  serving.review({ ensemble: "web", tools: [tool(description)] });
const run = (...argv: string[]): Promise<Ran> => runInMemory(["pins", ...argv], { folder });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-pins-"));
  await writeFile(join(folder, "arsenal.yaml"), "state: { file: ./state.sqlite }\naudit: { file: ./audit.jsonl }\n");
  state = sqliteState({ file: join(folder, "state.sqlite") });
  serving = createPins({ state: state.documents, clock: createManualClock(AT), emit: () => {}, mode: "changes" });
  await offer("Looks at a page.");
});
afterEach(async () => {
  serving.close();
  await state.close();
  await rm(folder, { recursive: true });
});

describe("toolarsenal pins", () => {
  it("lists what was seen, and with --diff what changed, nothing hidden", async () => {
    await offer("Looks at a page.\u{E0041}");
    const { code, out, err } = await run("list");
    expect([code, err]).toEqual([0, "1 pin, 1 to be accepted\n"]);
    expect(out).toMatch(/^web\.look {2}changed {2}[0-9a-f]{16} {2}since 2026-07-28T00:00:00\.000Z\n$/);
    const shown = await run("list", "--diff");
    expect(shown.out.split("\n").slice(1)).toEqual([
      "    description",
      "    - Looks at a page.",
      String.raw`    + Looks at a page.\udb40\udc41`,
      "",
    ]);
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([
      { id: "web.look", ensemble: "web", state: "changed", seenAt: AT },
    ]);
  });

  it("says why there are none", async () => {
    await writeFile(join(folder, "arsenal.yaml"), "state: { file: ./empty.sqlite }\n");
    expect((await run("list")).err).toContain(
      "They appear once `toolarsenal serve` or `toolarsenal list` has connected",
    );
    await writeFile(join(folder, "arsenal.yaml"), "state: { file: ./empty.sqlite }\nsecurity: { pins: 'off' }\n");
    expect((await run("list")).err).toContain("security.pins is off, so every tool is used as its server offers it");
  });

  it("accepts in the name of the local operator, and leaves a record", async () => {
    await offer("Looks at any page.");
    expect(await serving.refusal(tool("Looks at a page."))).toContain("pins accept web.look");
    expect(await run("accept", "web.look")).toEqual({ code: 0, out: "", err: "Accepted web.look.\n" });
    expect(await serving.refusal(tool("Looks at any page."))).toBeUndefined();
    expect((await run("list")).out).toMatch(/ accepted .* by local\n$/);
    const records = readFileSync(join(folder, "audit.jsonl"), "utf8").trim().split("\n");
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(records.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        kind: "pin-accepted",
        toolId: "web.look",
        contentHash: hash,
        previousContentHash: hash,
        by: "local",
      }),
    );
  });

  it("accepts everything that waits", async () => {
    expect(await run("accept", "--all")).toEqual({ code: 0, out: "", err: "Nothing to accept.\n" });
    await offer("Looks at any page.");
    expect(await run("accept", "--all", "--json")).toEqual({ code: 0, out: '{"accepted":["web.look"]}\n', err: "" });
  });

  it("accepts with --all nothing that somebody keeps refusing", async () => {
    await offer("Looks at any page.");
    await serving.refuse("web.look", localOperator({ id: "dana" }));
    expect(await run("list")).toMatchObject({
      out: expect.stringMatching(/ changed .* refused by dana\n$/),
      err: "1 pin, 0 to be accepted\n",
    });
    expect((await run("accept", "--all")).err).toBe("Nothing to accept.\n");
    const doctor = await runInMemory(["doctor", "--running"], { folder });
    expect(doctor.out).toMatch(/^ok +pins: 0 accepted, 1 refused for good$/m);
    expect((await run("accept", "web.look")).err).toBe("Accepted web.look.\n");
  });

  it("vouches for annotations, also of what was accepted before", async () => {
    expect((await run("accept", "web.look", "--confirm-annotations")).code).toBe(0);
    const { tools } = await serving.review({ ensemble: "web", tools: [tool("Looks at a page.")] });
    expect(tools[0]?.annotations).toEqual({ readOnly: true, confirmed: true });
  });

  it("accepts nothing else than what the hash stands for", async () => {
    await offer("Looks at any page.");
    expect(await run("accept", "web.look", "--hash", "0123456789abcdef")).toMatchObject({
      code: 2,
      err: expect.stringContaining("web.look does not match the hash"),
    });
    expect(await serving.refusal(tool("Looks at a page."))).toContain("pins accept web.look");
  });

  it.each([
    [["show"], 'There is no action "pins show". Use list or accept.'],
    [["accept"], '"pins accept" needs either an ID or --all. Take an id from: toolarsenal pins list'],
    [["accept", "x", "--all"], '"pins accept" needs either an ID or --all. Take an id from: toolarsenal pins list'],
    [
      ["accept", "web.look"],
      'No item that waits to be accepted has the id "web.look". Take an id from: toolarsenal pins list',
    ],
  ])("says what is wrong with %j", async (argv, message) => {
    expect(await run(...argv)).toMatchObject({ code: 2, err: `INPUT_INVALID ${message}\n` });
  });

  it("says that pins in memory cannot be seen from here", async () => {
    await writeFile(join(folder, "memory.yaml"), "{}\n");
    const { code, err } = await run("list", "--config", "memory.yaml");
    expect([code, err]).toEqual([2, expect.stringContaining("Set state.file")]);
  });
});
