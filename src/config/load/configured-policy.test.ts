import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PEERS_ABSENT, peersInstalled } from "../../../test/peers/peers.ts";
import { localOperator } from "../../guard/principal.ts";
import { systemClock } from "../../observe/clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { configuredPolicy } from "./configured-policy.ts";
import { loadConfig } from "./load-config.ts";
import { resolveConfig } from "./resolve-config.ts";

const run = promisify(execFile);
const hasPeers = peersInstalled();
if (!hasPeers) process.stderr.write(`A Cedar policy file is not tried: ${PEERS_ABSENT}\n`);

/** Registers two tools. */
const MODULE = `export default (arsenal) => {
  for (const name of ["seen", "hidden"])
    arsenal.register({ name, description: "Does something that matters.", parameters: { type: "object" } }, () => name);
};
`;

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

  it("that ends in .cedar holds Cedar policies, and asks for their library", async () => {
    await writeFile(join(folder, "policies.cedar"), "permit(principal, action, resource);");
    await expect(load("security: { policy_file: policies.cedar }", "")).rejects.toMatchObject({
      code: "LIBRARY_MISSING",
      message: "Cedar policies need a library: npm install @cedar-policy/cedar-wasm",
    });
  });

  // because Cedar's library is a peer that the user installs; CI has it.
  it.skipIf(!hasPeers)("that ends in .cedar decides, where the library is installed", async () => {
    await writeFile(join(folder, "tools.mjs"), MODULE);
    await writeFile(
      join(folder, "policies.cedar"),
      'permit(principal, action, resource) when { resource.name == "seen" };',
    );
    await writeFile(
      join(folder, "cedar.yaml"),
      "modules: [./tools.mjs]\nsecurity: { policy_file: ./policies.cedar }\n",
    );
    const program = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
    // As if the package lay beside ours, as it does where a user installs both.
    const env = {
      ...process.env,
      NODE_PATH: fileURLToPath(new URL("../../../test/peers/node_modules", import.meta.url)),
    };
    const { stdout } = await run(
      process.execPath,
      [program, "list", "--json", "--config", join(folder, "cedar.yaml")],
      {
        env,
      },
    );
    const [hidden, seen] = JSON.parse(stdout) as readonly object[];
    expect(hidden).toMatchObject({ id: "default.hidden", refused: { rule: "see" } });
    expect(seen).toMatchObject({ id: "default.seen" });
    expect(seen).not.toHaveProperty("refused");
  });

  it("is not needed: the lists decide without it", () => {
    const policy = configuredPolicy(resolveConfig({ security: { deny: ["find"] } }), systemClock);
    expect(policy.decide(request)).toMatchObject({ effect: "deny", rule: "security.deny" });
  });
});
