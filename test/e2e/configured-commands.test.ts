import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "./replicas/eventually.ts";
import { type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";

const TINY = pathToFileURL(fileURLToPath(new URL("tiny-server.ts", import.meta.url))).href;

let folder: string;
let gateway: KeyedGateway | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-commands-"));
  // A program that notes with which arguments it was started, and then is a server.
  const started = JSON.stringify(join(folder, "started"));
  const code = `import { appendFileSync } from "node:fs";\nappendFileSync(${started}, process.argv[2] + "\\n");\nprocess.argv.splice(2);\nawait import("${TINY}");\n`;
  writeFileSync(join(folder, "program.mjs"), code);
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Starts, or starts again, a gateway whose configuration names the program with these settings. */
async function start(security: object, argument: string, env: Readonly<Record<string, string>> = {}) {
  await gateway?.close();
  gateway = await startKeyedGateway({
    servers: { tiny: { command: process.execPath, args: [join(folder, "program.mjs"), argument], env } },
    security,
    settings: { state: { file: join(folder, "state.sqlite") } },
  });
  return gateway;
}

const starts = (): readonly string[] =>
  existsSync(join(folder, "started")) ? readFileSync(join(folder, "started"), "utf8").trim().split("\n") : [];

const stateOf = async (from: KeyedGateway) => (await from.ask("operator", "GET", "/api/v1/ensembles/tiny")).body;

const pinOf = async (from: KeyedGateway) => {
  const { pins } = (await from.ask("operator", "GET", "/api/v1/pins")).body;
  return pins.find(({ id }: { id: string }) => id === "tiny#command");
};

const accept = async (from: KeyedGateway, hash: string) =>
  (await from.ask("approver", "POST", "/api/v1/pins/tiny%23command/accept", { hash })).status;

describe("the command of a configured server", () => {
  it("is started under the policy strict only once an approver accepted it, and again after each change", async () => {
    const security = { policy: "strict", allow: ["*"] };
    const first = await start(security, "first", { MODE: "quiet", API_TOKEN: "4f9d8c7b6a5e4d3c2b1a0f9e8d7c6b5a" });
    expect(await stateOf(first)).toMatchObject({
      state: "failed",
      problem: expect.stringContaining("toolarsenal pins accept tiny#command"),
    });
    expect(starts()).toEqual([]);
    const waiting = await pinOf(first);
    expect(waiting.state).toBe("new");
    const shown = waiting.diff.join("\n");
    expect(shown).toContain("first");
    expect(shown).toContain("quiet");
    expect(shown).not.toContain("4f9d8c7b");
    expect(await accept(first, waiting.hash)).toBe(204);
    await eventually("the server is started", async () => (await stateOf(first)).state === "connected");
    expect(starts()).toContain("first");

    // The same command with another key is the same command.
    const same = await start(security, "first", { MODE: "quiet", API_TOKEN: "0a1b2c3d4e5f60718293a4b5c6d7e8f9" });
    expect((await stateOf(same)).state).toBe("connected");

    const changed = await start(security, "second", { MODE: "quiet", API_TOKEN: "0a1b2c3d4e5f60718293a4b5c6d7e8f9" });
    expect(await stateOf(changed)).toMatchObject({ state: "failed", problem: expect.stringContaining("it changed") });
    expect(starts()).not.toContain("second");
    // Back to what was accepted, it starts.
    const back = await start(security, "first", { MODE: "quiet", API_TOKEN: "0a1b2c3d4e5f60718293a4b5c6d7e8f9" });
    expect((await stateOf(back)).state).toBe("connected");
    expect(new Set(starts())).toEqual(new Set(["first"]));
  });

  it("is started otherwise, and reported as changed", async () => {
    const before = await start({}, "first");
    expect([(await stateOf(before)).state, (await pinOf(before)).state]).toEqual(["connected", "accepted"]);
    const after = await start({}, "second");
    expect((await stateOf(after)).state).toBe("connected");
    expect(starts()).toContain("second");
    const pin = await pinOf(after);
    expect([pin.state, pin.diff.join("\n")]).toEqual(["changed", expect.stringContaining("second")]);
    expect(
      (await after.ask("guest", "POST", "/api/v1/execute", { toolName: "tiny.greet", arguments: {} })).body.status,
    ).toBe("success");
    expect(await accept(after, pin.hash)).toBe(204);
    expect((await pinOf(after)).state).toBe("accepted");
  });
});
