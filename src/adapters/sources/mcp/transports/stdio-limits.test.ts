import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readClientConfig } from "../../../../config/clients/client-config.ts";
import { findProgram } from "../../../../system/find-program.ts";
import { ToolArsenal } from "../../../../index.ts";
import { readServer } from "../read-settings.ts";
import { mcp, type StdioSettings } from "../settings.ts";
import { stdioTransport } from "./stdio-transport.ts";

const folder = mkdtempSync(join(tmpdir(), "stdio-limits-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program to its end and resolves with the error that the transport reports. */
async function endOf(code: string, limits: StdioSettings["limits"]): Promise<string> {
  const transport = stdioTransport({
    kind: "stdio",
    command: process.execPath,
    args: ["-e", code],
    ...(limits && { limits }),
  });
  const errors: string[] = [];
  const closed = Promise.withResolvers<void>();
  Object.assign(transport, {
    onclose: closed.resolve,
    onerror: (error: Error) => void errors.push(error.message),
  });
  await transport.start();
  await closed.promise;
  return errors.join("\n");
}

const FILL =
  "const kept = []; for (let n = 0; n < 64; n++) kept.push(Buffer.alloc(8 * 1024 * 1024, n)); process.exit(7);";

// because prlimit exists on Linux only
describe.skipIf(process.platform !== "linux" || findProgram("prlimit") === undefined)(
  "limits of a stdio server",
  () => {
    it("ends a program that takes more memory, and says which limits it has", async () => {
      expect(await endOf(FILL, undefined)).toContain("exited with code 7");
      const error = await endOf(FILL, { memoryMb: 256 });
      expect(error).not.toContain("exited with code 7");
      expect(error).toContain("Its limits are memory_mb 256.");
    });

    it("ends a program that computes for too long", async () => {
      expect(await endOf("for (;;);", { cpuSeconds: 1 })).toContain(
        "was ended by SIGXCPU. Its limits are cpu_seconds 1.",
      );
    });

    it("reports a missing command as without limits", async () => {
      const limits = { memoryMb: 256 };
      for (const settings of [{ command: "no-such-program" }, { command: "./no-such-program", cwd: folder }])
        await expect(stdioTransport({ kind: "stdio", ...settings, limits }).start()).rejects.toThrow(/was not found/);
    });

    it("does not stop an ordinary server", async () => {
      const args = [join(import.meta.dirname, "../../../../../bench/gateway/echo-server.ts"), "stdio"];
      const limits = { memoryMb: 1024, cpuSeconds: 60, openFiles: 256 };
      const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false } });
      try {
        await arsenal.add(mcp({ name: "echo", command: process.execPath, args, limits }));
        const { status } = await arsenal.execute({ toolName: "echo.echo", arguments: { message: "hello" } });
        expect(status).toBe("success");
      } finally {
        await arsenal.close();
      }
    });
  },
);

describe("the limits setting", () => {
  it("is refused for a server that is elsewhere", () => {
    expect(readServer({ name: "far", url: "https://mcp.example.com", limits: { memoryMb: 256 } })).toMatchObject({
      field: "limits",
      message: "cannot be set for a remote server",
    });
  });

  it.each([
    ["memory", 256, "is not a limit"],
    ["memory_mb", 1, "must be a whole number from 16 to 1048576"],
    ["cpu_seconds", "10", "must be a whole number from 1 to 31536000"],
  ])("refuses %s: %j in a client's entry, instead of starting the program without it", async (name, value, problem) => {
    const entry = { command: "npx", limits: { [name]: value } };
    const { servers, problems } = await readClientConfig({ mcpServers: { files: entry } }, { folder, environment: {} });
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ message: expect.stringContaining(problem) as string }]);
  });
});
