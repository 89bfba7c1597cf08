import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { type Ran, runInMemory } from "../../test/e2e/terminal.ts";
import { runCli } from "./run-cli.ts";

/** Runs `toolarsenal` alone in a terminal whose user types these lines. */
async function typed(lines: string): Promise<Ran> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  input.end(lines);
  const text = { out: "", err: "" };
  const code = await runCli([], {
    out: { write: (part) => (text.out += part), isTTY: true, columns: 80 },
    err: { write: (part) => (text.err += part), isTTY: true, columns: 80 },
    folder: ".",
    environment: { NO_COLOR: "1" },
    signal: new AbortController().signal,
    keyboard: { input, output: new PassThrough() },
  });
  return { code, ...text };
}

it("offers a newcomer three things in a terminal, and does the chosen one", async () => {
  const { code, out, err } = await typed("1\n");
  expect(err).toContain("  1  See it work\n     toolarsenal demo: ");
  expect(err).toContain("  2  Put my MCP servers behind one gateway\n     toolarsenal setup: ");
  expect(err).toContain("  3  Start a project\n     toolarsenal init: ");
  expect(err.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(code).toBe(0);
  expect(out).toContain("refund");
});

it("asks again if the answer is not one of them, and shows the help after an empty one", async () => {
  const { code, out, err } = await typed("4\n\n");
  expect(err).toContain('"4" is not one of 1, 2 and 3.');
  expect(code).toBe(0);
  expect(out).toContain("Usage\n  toolarsenal COMMAND [OPTIONS]");
});

it("asks nothing if the output is not a terminal", async () => {
  const { out, err } = await runInMemory([]);
  expect([err, out.includes("Usage")]).toEqual(["", true]);
});

it.each(["RATE_LIMITED", "rate_limited"])("help %s shows what the error means and how to fix it", async (code) => {
  const { out, ...ended } = await runInMemory(["help", code]);
  expect(ended).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^RATE_LIMITED\n\n/);
  expect(out).toContain("max_requests_per_minute");
});

it("names that help under an error in a terminal, and only there", async () => {
  const place = { environment: { NO_COLOR: "1" } };
  expect((await runInMemory(["serch"], { ...place, isTTY: true })).err).toContain(
    "More: toolarsenal help INPUT_INVALID\n",
  );
  expect((await runInMemory(["serch"], place)).err).not.toContain("More:");
});
