import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { updateKeyFile } from "../../../src/adapters/identity/api-keys/key-file.ts";
import { SAMPLE_TOOLS } from "../../mcp/upstream-server.ts";
import { some } from "../../kit/effort.ts";
import { MAIN } from "../../kit/program.ts";
import { modernClient } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { STATES } from "./states.ts";

describe.each(some(STATES, 1, "changes"))("of three replicas on $name, every one knows within a second", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(open);
  });
  afterAll(() => fleet?.close());

  /** How many replicas say so within a second. Added to it is what a few requests take on this machine, because that is how it is noticed. */
  async function saidBy(holds: (url: string) => Promise<boolean>): Promise<number> {
    const said = fleet.running().map(async ({ url }) => {
      const since = performance.now();
      await at(url).tools();
      const withinMs = 1_000 + 5 * (performance.now() - since);
      return eventually("it is known", () => holds(url), { withinMs }).then(
        () => true,
        () => false,
      );
    });
    return (await Promise.all(said)).filter(Boolean).length;
  }
  const at = (url: string, key = fleet.keys.asker) => modernClient({ url, key });
  const lists = async (url: string, name: string): Promise<boolean> =>
    (await at(url).tools()).some((tool) => tool.name === name);

  it("of a tool that a server adds", async () => {
    const [server] = fleet.listed;
    const extra = { name: "extra", description: "One more.", inputSchema: { type: "object" } };
    if (server !== undefined) server.pages = [[...SAMPLE_TOOLS, extra]];
    await server?.listChanged();
    expect(await saidBy((url) => lists(url, "alpha-extra"))).toBe(3);
  });

  it("of a changed policy", async () => {
    fleet.writePolicy([{ id: "closed", effect: "deny", tools: ["young.book"] }]);
    expect(await saidBy(async (url) => !(await lists(url, "young-book")))).toBe(3);
    fleet.writePolicy();
    expect(await saidBy((url) => lists(url, "young-book"))).toBe(3);
  });

  it("of a new and of a revoked API key", async () => {
    const key = await fleet.addKey("late");
    const works = async (url: string): Promise<boolean> =>
      (await at(url, key).call("young-book", { id: "by key" })).said !== undefined;
    expect(await saidBy(works)).toBe(3);
    await updateKeyFile(join(fleet.folder, "keys.json"), (keys) => keys.filter(({ id }) => id !== "late"));
    expect(await saidBy(async (url) => !(await works(url)))).toBe(3);
  });

  it("of a changed tool that an operator accepts", async () => {
    const [, server] = fleet.listed;
    const changed = SAMPLE_TOOLS.map((tool) =>
      tool["name"] === "echo" ? { ...tool, description: "Echoes, differently." } : tool,
    );
    if (server !== undefined) server.pages = [changed];
    await server?.listChanged();
    const echo = (url: string) => at(url).call("beta-echo", { text: "hi" });
    const isRefused = async (url: string): Promise<boolean> =>
      (await echo(url)).failed?.includes("differs from its accepted version") === true;
    expect(await saidBy(isRefused)).toBe(3);
    const config = join(fleet.folder, "accept.yaml");
    writeFileSync(config, JSON.stringify(fleet.state.settings));
    const command = spawn(process.execPath, [MAIN, "pins", "accept", "beta.echo", "--config", config]);
    expect((await once(command, "exit"))[0]).toBe(0);
    const isListed = async (url: string): Promise<boolean> =>
      (await at(url).tools()).some(({ description }) => description === "Echoes, differently.");
    expect(await saidBy(isListed)).toBe(3);
    for (const { url } of fleet.running()) expect((await echo(url)).said).toBe("hi");
  });
});
