import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runInMemory } from "../terminal.ts";

const TINY = fileURLToPath(new URL("../tiny-server.ts", import.meta.url));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-protocol-"));
  const server = { name: "greeter", command: process.execPath, args: [TINY] };
  writeFileSync(
    join(folder, "arsenal.yaml"),
    JSON.stringify({ mcp: { servers: [server] }, security: { pins: "off" }, embedder: { tier: "lexical" } }),
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Line {
  readonly event?: string;
  readonly server: string;
  readonly direction: string;
  readonly message: string;
}

async function messages(...flags: readonly string[]): Promise<readonly Line[]> {
  const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  const given = JSON.stringify({ token: secret, text: `\u001B[2J${"x".repeat(20_000)}` });
  const { err } = await runInMemory(["call", "greeter.greet", "--args", given, ...flags], { folder });
  expect(err).not.toContain(secret);
  expect(err).not.toContain("\u001B");
  return err
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ event }) => event === "mcp-message");
}

it("writes what is sent to a server and what it answers, redacted and bounded [004-mcp-debug]", async () => {
  const lines = await messages("--debug-protocol");
  const said = lines.map(({ server, direction, message }) => [
    server,
    direction,
    /"method":"([^"]+)"/.exec(message)?.[1],
  ]);
  expect(said).toContainEqual(["greeter", "sent", "initialize"]);
  expect(said).toContainEqual(["greeter", "sent", "tools/list"]);
  expect(said).toContainEqual(["greeter", "sent", "tools/call"]);
  expect(lines.some(({ direction, message }) => direction === "received" && message.includes('"Hello"'))).toBe(true);
  expect(Math.max(...lines.map(({ message }) => message.length))).toBe(8_192);
});

it("writes nothing of it unless it is asked to", async () => {
  expect(await messages()).toEqual([]);
});
