import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localOperator } from "../guard/principal.ts";
import { systemClock } from "../observe/clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { configuredPolicy } from "./configured-policy.ts";
import { loadConfig } from "./load-config.ts";
import { resolveConfig } from "./resolve-config.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-policy-"))));
afterAll(() => rm(folder, { recursive: true }));

async function load(config: string, policy: string): Promise<Awaited<ReturnType<typeof loadConfig>>> {
  await writeFile(join(folder, "policy.yaml"), policy);
  await writeFile(join(folder, "arsenal.yaml"), config);
  return loadConfig(join(folder, "arsenal.yaml"), {});
}

const find = defineTool({ name: "find", description: "Finds what is asked for.", parameters: {}, createdAt: 0 });
const request = { tool: find, arguments: {}, principal: localOperator() };

describe("security.policy_file", () => {
  it("is a path from the file's folder, and decides", async () => {
    const policy = "version: 1\nrules: [{ id: nobody, effect: deny, tools: find }]\n";
    const { config } = await load("security: { policy_file: ./policy.yaml }", policy);
    expect(config.security.policyFile).toBe(join(folder, "policy.yaml"));
    expect(configuredPolicy(config, systemClock).decide(request)).toMatchObject({ effect: "deny", rule: "nobody" });
  });

  it("is strict where the document or the configuration says so", async () => {
    const { config } = await load("security: { policy: strict, policy_file: policy.yaml }", "version: 1\n");
    expect(configuredPolicy(config, systemClock).decide(request)).toMatchObject({ rule: "mode: strict" });
    const other = await load("security: { policy_file: policy.yaml }", "version: 1\nmode: strict\n");
    expect(configuredPolicy(other.config, systemClock).decide(request)).toMatchObject({ rule: "mode: strict" });
  });

  it("is checked when the configuration is loaded, with its own name and line", async () => {
    await expect(load("security: { policy_file: policy.yaml }", "version: 1\nmode: lax\n")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${join(folder, "policy.yaml")}:2:7 mode: must be one of`),
    });
    await expect(load("security: { policy_file: nowhere.yaml }", "")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { field: "security.policy_file" },
    });
  });

  it.each(["allow", "deny", "human_in_the_loop", "require_confirmation"])(
    "does not stand beside security.%s",
    async (key) => {
      await expect(
        load(`security: { policy_file: policy.yaml, ${key}: ["mail.*"] }`, "version: 1\n"),
      ).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        details: { field: `security.${key}`, fix: expect.stringContaining('tools: ["mail.*"]') },
      });
    },
  );

  it("is not needed: the lists decide without it", () => {
    const policy = configuredPolicy(resolveConfig({ security: { deny: ["find"] } }), systemClock);
    expect(policy.decide(request)).toMatchObject({ effect: "deny", rule: "security.deny" });
  });
});
