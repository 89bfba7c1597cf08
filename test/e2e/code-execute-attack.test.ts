import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import {
  bubblewrapSandbox,
  dockerSandbox,
  isolateSandbox,
  noSandbox,
  type Sandbox,
  subprocessSandbox,
} from "../../src/adapters/sandboxes/index.ts";
import { builtinSource } from "../../src/adapters/sources/index.ts";
import { listSettings } from "../../src/config/load/setting.ts";
import { startGateway } from "./gateway-process.ts";

/** What a model may write: it ends whoever started it. */
const ATTACK = `process.kill(process.ppid, "SIGKILL"); return "done";`;

const SANDBOXES: Readonly<Record<string, Sandbox>> = {
  isolate: isolateSandbox(),
  bubblewrap: bubblewrapSandbox(),
  docker: dockerSandbox(),
};

it("offers for code that a model wrote only the sandboxes that are attacked here", () => {
  const setting = listSettings().find(({ path }) => path === "builtins.code.sandbox");
  expect(new Set(setting?.schema.enum)).toEqual(new Set(Object.keys(SANDBOXES)));
});

for (const [name, sandbox] of Object.entries(SANDBOXES)) {
  const works = await sandbox.available();

  // because a sandbox needs its program: this machine may have no bwrap, or no container engine that answers
  describe.skipIf(works !== true)(`a gateway whose code_execute runs in ${name}`, () => {
    it("outlives code that ends whoever started it", async () => {
      const settings = { builtins: { tools: ["code-execute"], code: { sandbox: name } } };
      const gateway = await startGateway({ servers: {}, settings, tier: "lexical" });
      try {
        const client = new Client({ name: "client", version: "1.0.0" });
        await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
        const run = (code: string): ReturnType<Client["callTool"]> =>
          client.callTool({ name: "execute_tool", arguments: { tool_name: "code_execute", arguments: { code } } });
        await run(ATTACK);
        expect(JSON.stringify(await run("return 6 * 7"))).toContain("42");
        await client.close();
      } finally {
        expect(await gateway.close()).toBe(0);
      }
    });
  });
}

it.each(["subprocess", "none"])("refuses to run a model's code in %s, and names what to use", async (name) => {
  const settings = { builtins: { tools: ["code-execute"], code: { sandbox: name } } };
  await expect(startGateway({ servers: {}, settings, tier: "lexical" })).rejects.toThrow(
    /builtins\.code\.sandbox: must be one of docker, bubblewrap, isolate, not "(subprocess|none)"/,
  );
});

it.each([subprocessSandbox(), noSandbox()])(
  "refuses the sandbox $name for code_execute in the library too",
  (sandbox) => {
    expect(() => builtinSource({ tools: ["code-execute"], code: { sandbox } })).toThrow(
      `code.sandbox is ${sandbox.name}, and code in this sandbox can end the gateway. Use isolateSandbox(), bubblewrapSandbox() or dockerSandbox().`,
    );
  },
);
