import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { operationsOf, ToolArsenal } from "../../arsenal.ts";
import { resolveConfig } from "../../config/load/resolve-config.ts";
import type { WatchedConfig } from "../../system/watch-files.ts";
import { watchPolicy } from "./follow-config.ts";

const OPEN = "version: 1\nrules: []\n";
const CLOSED = "version: 1\nrules: [{ id: none, effect: deny, hide: false, reason: Closed today. }]\n";
const WRONG = "version: 1\nrules: [{ id: none, effect: dney }]\n";

let folder: string;
let policyFile: string;
let arsenal: ToolArsenal;
let watched: WatchedConfig | undefined;
let told: string[];
let waiting: (() => void) | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-policy-"));
  policyFile = join(folder, "policy.yaml");
  await writeFile(policyFile, OPEN);
  const config = resolveConfig({ security: { policyFile } });
  arsenal = new ToolArsenal(config);
  arsenal.register({ name: "greet", description: "Says hello.", parameters: { type: "object" } }, () => "hello");
  told = [];
  watched = await watchPolicy(config, arsenal, (line) => {
    told.push(line);
    waiting?.();
  });
});
afterEach(async () => {
  await watched?.close();
  await arsenal.close();
  await rm(folder, { recursive: true });
});

/** Changes the file as an editor does, and waits until so many lines are told. */
async function change(text: string, lines: number): Promise<readonly string[]> {
  told = [];
  const done = Promise.withResolvers<void>();
  waiting = () => {
    if (told.length >= lines) done.resolve();
  };
  await writeFile(policyFile, text);
  await done.promise;
  return told;
}

const call = async (): Promise<string> => (await arsenal.execute({ toolName: "greet", arguments: {} })).status;

describe("a policy file that changes while it is served", () => {
  it("is in force for the next call, again and again", async () => {
    expect(await call()).toBe("success");
    expect(await change(CLOSED, 1)).toEqual([`Policy reloaded: ${policyFile} is in force for new calls.`]);
    const refused = await arsenal.execute({ toolName: "greet", arguments: {} });
    expect(refused).toMatchObject({ status: "permission_denied" });
    await change(OPEN, 1);
    expect(await call()).toBe("success");
  });

  it("hides a tool from lists and search as soon as a rule does", async () => {
    await change("version: 1\nrules: [{ id: none, effect: deny }]\n", 1);
    expect(await arsenal.listTools()).toEqual([]);
    expect((await arsenal.retrieve({ context: { query: "say hello" } })).tools).toEqual([]);
  });

  it("is reported when it is invalid or gone, and the old one stays in force", async () => {
    await change(CLOSED, 1);
    const [problem, ...rest] = await change(WRONG, 2);
    expect(problem).toContain("Cannot use the changed policy: ");
    expect(problem).toContain('Did you mean "deny"?');
    expect(rest).toEqual(["The old policy stays in force."]);
    expect(await call()).toBe("permission_denied");
    await rm(policyFile);
    expect(() => operationsOf(arsenal).policy.reload()).toThrow("cannot be read");
    expect(await call()).toBe("permission_denied");
  });

  it("changes the limits of registration too", async () => {
    await change("version: 1\npresets: [{ maxTools: 1 }]\nrules: []\n", 1);
    const more = { name: "wave", description: "Waves a hand.", parameters: { type: "object" } } as const;
    expect(() => arsenal.register(more, () => "wave")).toThrow("no more than 1");
  });

  it("tells listeners, so that clients list their tools again", async () => {
    const heard = Promise.withResolvers<unknown>();
    const end = arsenal.subscribe(({ name, data }) => {
      if (name === "policy-reloaded") heard.resolve(data);
    });
    await change(CLOSED, 1);
    expect(await heard.promise).toEqual({ file: policyFile });
    end();
  });

  it("is not watched when none is configured, and cannot be reloaded", async () => {
    await using other = new ToolArsenal();
    expect(await watchPolicy(resolveConfig({}), other, () => {})).toBeUndefined();
    expect(() => operationsOf(other).policy.reload()).toThrow("There is no policy file to reload.");
  });
});
