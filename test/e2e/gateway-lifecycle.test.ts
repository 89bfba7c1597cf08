import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { repeats } from "../kit/effort.ts";
import { markedProcesses, openDescriptors } from "./open-descriptors.ts";

const STARTS = repeats(12, 100);
const TINY = fileURLToPath(new URL("./tiny-server.ts", import.meta.url));

// because it counts descriptors in /proc.
describe.skipIf(process.platform !== "linux")("a gateway that is started and stopped", () => {
  it("leaves no process and no open file behind after many times", async () => {
    const mark = `TOOLARSENAL_LIFECYCLE=${randomUUID()}`;
    const [name = "", value = ""] = mark.split("=");

    async function startAndStop(): Promise<void> {
      const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
      await arsenal.addMcpServer({
        name: "tiny",
        transport: { kind: "stdio", command: process.execPath, args: [TINY], env: { [name]: value } },
      });
      const served = await arsenal.serve({ port: 0, mode: "static" });
      const client = new Client({ name: "lifecycle", version: "1.0.0" });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(1);
      await client.close();
      await served.close();
      await arsenal.close();
    }

    const four = (): Promise<unknown> => Promise.all(Array.from({ length: 4 }, startAndStop));
    // The first ones load modules and open what stays open.
    await four();
    const before = openDescriptors();
    for (let starts = 4; starts < STARTS; starts += 4) await four();
    expect(markedProcesses(mark)).toEqual([]);
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
  });
});
