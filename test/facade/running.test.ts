import { internalsOf } from "../../src/arsenal.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ArsenalClient } from "../../src/client/index.ts";
import { type ArsenalEvent, operationsOf, ToolArsenal } from "../../src/index.ts";
import { ARSENALS, look } from "./opened.ts";

/** Events, health and the end of an arsenal. */
describe.each(ARSENALS)("an arsenal, %s:", (_where, open) => {
  describe("events", () => {
    it("reach whoever listens, success and failure alike, until it is ended [002-service-events]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      let fails = false;
      await host.addTool(look, () => {
        if (fails) throw new Error("broken");
      });
      const heard: ArsenalEvent[] = [];
      const third = Promise.withResolvers<void>();
      const finished = () => heard.flatMap(({ name, data }) => (name === "call-finished" ? [data] : []));
      const end = await opened.subscribe((event) => heard.push(event));
      await opened.subscribe(({ name }) => name === "call-finished" && ++calls === 3 && third.resolve());
      let calls = 0;
      await arsenal.execute({ toolName: "look_around" });
      fails = true;
      await arsenal.execute({ toolName: "look_around" });
      while (finished().length < 2) await new Promise((resolve) => void setImmediate(resolve));
      expect(finished()).toMatchObject([{ status: "success" }, { status: "failure", code: "EXECUTION_FAILED" }]);
      end();
      await arsenal.execute({ toolName: "look_around" });
      await third.promise;
      expect(finished()).toHaveLength(2);
    });

    it("tell of tools that were registered and of those that were refused", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      const both = Promise.withResolvers<void>();
      const names = new Set<string>();
      await opened.subscribe(({ name }) => {
        names.add(name);
        if (names.has("tool-registered") && names.has("tool-rejected")) both.resolve();
      });
      await arsenal.add([{ tool: look }, { tool: { ...look, name: "?!" } }]);
      await both.promise;
      expect(names).toContain("tool-registered");
    });
  });

  describe("an arsenal", () => {
    it("says which parts work, and how each tool fares, apart from its definition [000-4.1-health-apart] [000-6.3-health] [000-6.3-circuit-opens] [000-2.3-flaky]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool(look, () => {
        throw new Error("broken");
      });
      expect(await arsenal.healthCheck()).toEqual({ store: true, state: true });
      const before = await arsenal.getTool("look_around");
      for (let count = 0; count < 5; count++) await arsenal.execute({ toolName: "look_around" });
      expect(internalsOf(host).health("default.look_around")).toMatchObject({
        totalCalls: 5,
        consecutiveFailures: 5,
        successRate: 0,
        circuitOpen: true,
      });
      expect(await arsenal.getTool("look_around")).toEqual(before);
      expect(before).not.toHaveProperty("health");
    });

    it("reads its policy again, and keeps the old one where the new one is wrong", async () => {
      const folder = await mkdtemp(join(tmpdir(), "toolarsenal-facade-"));
      const policyFile = join(folder, "policy.yaml");
      const write = (rules: string): Promise<void> => writeFile(policyFile, `version: 1\nrules: ${rules}\n`);
      await write("[]");
      try {
        await using opened = await open({ security: { policyFile } });
        const { arsenal, host } = opened;
        const operations = "policy" in arsenal ? (arsenal as ArsenalClient) : operationsOf(arsenal as ToolArsenal);
        await host.addTool(look, () => 1);
        expect(await arsenal.listTools()).toHaveLength(1);
        await write('[{ id: shut, effect: deny, namespaces: ["*"] }]');
        await operations.policy.reload();
        expect(await arsenal.listTools()).toHaveLength(0);
        await write("5");
        await expect((async () => operations.policy.reload())()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
        expect(await arsenal.listTools()).toHaveLength(0);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it("does not call a tool that its server changed before somebody accepts it", async () => {
      await using upstream = new ToolArsenal({ telemetry: { enabled: false } });
      const served = await upstream.serve({ port: 0, mode: "static" });
      await using opened = await open();
      const { arsenal } = opened;
      const settings = { name: "far", transport: { kind: "http", url: `${served.url}/mcp` } } as const;
      const offer = async (description: string): Promise<void> => {
        upstream.register({ ...look, description }, () => "seen");
        await arsenal.remove("far");
        await arsenal.addMcpServer(settings);
      };
      const status = async (): Promise<string> => (await arsenal.execute({ toolName: "far.look_around" })).status;
      const pinned = async () => (await arsenal.pins?.list())?.find(({ id }) => id === "far.look_around");
      await offer("Looks around and says what it sees.");
      expect([await status(), (await pinned())?.state]).toEqual(["success", "accepted"]);
      await offer("Looks around and says what nobody sees.");
      const changed = await pinned();
      expect([await status(), changed?.state]).toEqual(["permission_denied", "changed"]);
      await expect(opened.accept("far.look_around", { hash: "0".repeat(16) })).rejects.toMatchObject({
        code: "INPUT_INVALID",
      });
      await opened.accept("far.look_around", { hash: changed?.hash ?? "" });
      expect([await status(), (await pinned())?.state]).toEqual(["success", "accepted"]);
      await served.close();
    });

    it("takes no more work once it is closed, and closes twice [000-14-close]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool(look, () => 1);
      await Promise.all([arsenal.close(), arsenal.close()]);
      await arsenal.close();
      const uses: Record<string, () => unknown> = {
        addTool: () => arsenal.addTool(look),
        add: () => arsenal.add([]),
        "add with a format": () => arsenal.add([], { format: "openai" }),
        exportTools: () => arsenal.exportTools("openai", []),
        remove: () => arsenal.remove("x"),
        sync: () => arsenal.sync(),
        retrieve: () => arsenal.retrieve({ context: { query: "x" } }),
        retrieveTools: () => arsenal.retrieveTools("x"),
        execute: () => arsenal.execute({ toolName: "look_around" }),
        executeBatch: () => arsenal.executeBatch({ calls: [] }),
        getTool: () => arsenal.getTool("look_around"),
        listTools: () => arsenal.listTools(),
        deleteTool: () => arsenal.deleteTool("look_around"),
        healthCheck: () => arsenal.healthCheck(),
      };
      for (const [name, use] of Object.entries(uses)) {
        const outcome: unknown = await (async () => use())().catch((error: unknown) => error);
        expect([name, outcome]).toEqual([name, expect.objectContaining({ code: "CLOSED" })]);
      }
    });
  });
});
