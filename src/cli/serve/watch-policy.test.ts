import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resolveConfig } from "../../config/resolve-config.ts";
import { watchPolicy } from "./watch-policy.ts";

let folder: string;
let policyFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-policy-"));
  policyFile = join(folder, "policy.yaml");
  await writeFile(policyFile, "version: 1\nrules: []\n");
});
afterEach(() => rm(folder, { recursive: true }));

/** What is told after the file got another text. */
async function toldAfter(text: string): Promise<readonly string[]> {
  const told: string[] = [];
  const first = Promise.withResolvers<void>();
  const watched = await watchPolicy(resolveConfig({ security: { policyFile } }), (line) => {
    told.push(line);
    first.resolve();
  });
  await writeFile(policyFile, text);
  watched?.reload();
  await first.promise;
  await watched?.close();
  return told;
}

describe("a policy file that is changed while it is served", () => {
  it("is said to hold after a restart", async () => {
    expect(await toldAfter("version: 1\nrules: [{ id: none, effect: deny }]\n")).toEqual([
      `${policyFile} changed, and is in force after a restart.`,
    ]);
  });

  it("is said to be wrong where it is", async () => {
    const [problem, ...rest] = await toldAfter("version: 1\nrules: [{ id: none, effect: dney }]\n");
    expect(problem).toContain(`${policyFile} changed, and cannot be used: `);
    expect(problem).toContain('Did you mean "deny"?');
    expect(rest).toEqual(["The policy that was there at the start stays in force."]);
  });

  it("is not watched where there is none", async () => {
    expect(await watchPolicy(resolveConfig({}), () => {})).toBeUndefined();
  });
});
