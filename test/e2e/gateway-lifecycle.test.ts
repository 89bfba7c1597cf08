import { randomUUID } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { peerProgram } from "../peers/peers.ts";
import { markedProcesses, openDescriptors } from "./open-descriptors.ts";

const STARTS = 100;

describe.skipIf(process.platform !== "linux")("a gateway that is started and stopped", () => {
  it("leaves no process and no open file behind after a hundred times", { timeout: 240_000 }, async () => {
    const mark = `TOOLARSENAL_LIFECYCLE=${randomUUID()}`;
    const [name = "", value = ""] = mark.split("=");
    const { file } = peerProgram("@modelcontextprotocol/server-memory");

    async function startAndStop(): Promise<void> {
      const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
      await arsenal.addMcpServer({
        name: "memory",
        transport: { kind: "stdio", command: process.execPath, args: [file], env: { [name]: value } },
      });
      const served = await arsenal.serveMcp({ port: 0, mode: "static" });
      const client = new Client({ name: "lifecycle", version: "1.0.0" });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
      await client.listTools();
      await client.close();
      await served.close();
      await arsenal.close();
    }

    // The first ones load modules and open what stays open.
    for (let start = 0; start < 5; start += 1) await startAndStop();
    const before = openDescriptors();
    for (let start = 5; start < STARTS; start += 1) await startAndStop();
    expect(markedProcesses(mark)).toEqual([]);
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
  });
});
