import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { runInMemory } from "./terminal.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...argv: readonly string[]): Promise<Ran> {
  const text = { out: "", err: "" };
  const { signal } = new AbortController();
  const code = await runCli(argv, {
    out: { write: (part) => (text.out += part) },
    err: { write: (part) => (text.err += part) },
    folder,
    environment: {},
    signal,
  });
  return { code, ...text };
}

describe("toolarsenal", () => {
  it("list shows tools, of one namespace or source where asked [000-11-list]", async () => {
    const ids = async (...options: readonly string[]): Promise<string[]> =>
      (JSON.parse((await run("list", "--json", ...options)).out) as { readonly id: string }[]).map(({ id }) => id);
    const all = await ids();
    const billing = await ids("--namespace", "billing");
    expect(all.length).toBeGreaterThanOrEqual(45);
    expect(billing.length).toBeGreaterThan(0);
    expect(billing).toEqual(all.filter((id) => id.startsWith("billing.")));
    expect(await ids("--source", "mcp")).toEqual([]);
  });

  it("search finds tools and explains their ranking [000-11-search] [000-2.3-explain]", async () => {
    const { code, out } = await run("search", "the customer wants her money back", "--explain", "--limit", "2");
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toContain("refund");
    expect(out).toMatch(/semantic +intent +conversation +health +cost +alreadyUsed +alreadyFailed +deprecated/);
    expect(out).toContain("Left out");
  });

  it("call runs a tool, under the same policy as the library [000-11-call] [000-3.2-same-guard]", async () => {
    const ran = await run("call", "crm.find_customer", "--args", '{"name":"dana"}');
    expect([ran.code, ran.out]).toEqual([0, expect.stringMatching(/dana/i)]);
    const hidden = await run("call", "data.drop_table", "--args", '{"table":"orders"}', "--json");
    expect([hidden.code, hidden.out]).toEqual([1, expect.stringContaining("TOOL_NOT_FOUND")]);
    const pending = await run("call", "billing.process_refund", "--args", '{"order_id":"1042"}', "--json");
    expect([pending.code, pending.out]).toEqual([1, expect.stringContaining("pending_confirmation")]);
  });

  it("eval measures recall, NDCG and MRR over files of tools and queries [000-11-eval]", async () => {
    const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join("\n");
    const tools = join(folder, "tools.jsonl");
    const queries = join(folder, "queries.jsonl");
    const named = ["send_email", "resize_photo", "book_flight"].map((name) => ({
      id: name,
      name,
      description: `${name.replace("_", " ")} for a user.`,
    }));
    await writeFile(tools, lines(named));
    await writeFile(
      queries,
      lines([
        { id: "1", query: "send an email", relevant: ["send_email"] },
        { id: "2", query: "book a flight", relevant: ["book_flight"] },
      ]),
    );
    const { code, out } = await run("eval", "--tools", tools, "--queries", queries, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      queries: 2,
      "recall@1": 1,
      "recall@5": 1,
      "recall@10": 1,
      "ndcg@10": 1,
      mrr: 1,
    });
  });

  it("benchmark keeps the contract at 1,000 tools and registers more than 100 a second [000-11-benchmark] [000-12.3-p95] [000-12.3-registration]", async () => {
    const { code, out } = await run("benchmark", "--tools", "1000", "--quick", "--tier", "static", "--json");
    const { kept, retrieval } = JSON.parse(out) as {
      readonly kept: boolean;
      readonly retrieval: readonly {
        readonly tools: number;
        readonly p95Ms: number;
        readonly toolsPerSecond: number;
      }[];
    };
    const [measured] = retrieval;
    expect([code, kept, measured?.tools]).toEqual([0, true, 1000]);
    expect(measured?.p95Ms).toBeLessThan(50);
    expect(measured?.toolsPerSecond).toBeGreaterThan(100);
  });

  it("doctor says what is wrong with a configuration and how to fix it [000-11-doctor]", async () => {
    const bad = join(folder, "bad.yaml");
    await writeFile(bad, "execution:\n  max_retrys: 2\n");
    const ill = await run("doctor", "--config", bad);
    expect(ill.code).toBe(1);
    expect(ill.out).toContain("max_retries");
    expect((await run("doctor", "--running")).code).toBe(0);
  });

  it("demo shows the whole path and ends by itself [000-11-demo] [000-1-tokens-saved]", async () => {
    const { code, out } = await run("demo");
    expect(code).toBe(0);
    expect(out).toMatch(/tokens in the prompt instead of \d+, \d+ % saved/);
    for (const shown of ["permission_denied", "pending_confirmation", "success", "circuit_open"])
      expect(out).toContain(shown);
  });

  it("demo fits into a terminal of 80 columns", async () => {
    const { out } = await runInMemory(["demo"], { columns: 80, isTTY: true, environment: { TERM: "xterm" } });
    const lines = stripVTControlCharacters(out).split("\n");
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  });

  it("prints data alone on stdout, as JSON where asked, without colour [000-11-json]", async () => {
    const { out, err } = await run("search", "send an email", "--json");
    expect((JSON.parse(out) as { readonly tools: object[] }).tools.length).toBeGreaterThan(0);
    expect(err).toBe("");
    const wrong = await run("search", "send an email", "--limit", "zero", "--json");
    expect(wrong.out).toBe("");
    expect(JSON.parse(wrong.err)).toMatchObject({ error: { code: "INPUT_INVALID" } });
    expect((await run("list")).out).not.toContain("\u001b[");
  });

  it("exits 0 for success, 1 for a failure, 2 for wrong usage [000-11-exit-codes]", async () => {
    expect((await run("list")).code).toBe(0);
    expect((await run("call", "crm.nobody")).code).toBe(1);
    expect((await run("search")).code).toBe(2);
    expect((await run("list", "--nonsense")).code).toBe(2);
    expect((await run("call", "crm.find_customer", "--args", "{")).code).toBe(2);
  });

  it("helps with every command, and with a misspelt one [000-11-help]", async () => {
    const general = await run("--help");
    expect(general.code).toBe(0);
    for (const command of ["demo", "list", "search", "call", "eval", "benchmark", "doctor", "completion"]) {
      expect(general.out).toContain(command);
      expect((await run(command, "--help")).out).toContain(`toolarsenal ${command}`);
    }
    expect((await run("serch", "x")).err).toContain('Did you mean "search"?');
    expect((await run("search", "x", "--limt", "3")).err).toContain("--limit");
  });

  it("completes commands and options in bash, zsh and fish [000-11-completion]", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await run("completion", shell);
      expect([code, out]).toEqual([0, expect.stringContaining("search")]);
      expect(out).toContain("explain");
    }
  });

  it("is a program: it runs from the source and prints its version", () => {
    const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, [main, "--version"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  it("starts no server that other programs here are set to use, unless told to [000-15.2-explicit]", async () => {
    const home = join(folder, "home");
    const started = join(home, "started");
    const touch = `require("node:fs").writeFileSync(${JSON.stringify(started)}, "")`;
    const settings = JSON.stringify({ mcpServers: { found: { command: process.execPath, args: ["--eval", touch] } } });
    await mkdir(join(home, ".cursor"), { recursive: true });
    for (const name of [".mcp.json", "mcp.json", ".claude.json", join(".cursor", "mcp.json")])
      await writeFile(join(home, name), settings);
    const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
    const list = (...options: readonly string[]) =>
      spawnSync(process.execPath, [main, "list", "--json", "--source", "mcp", ...options], {
        cwd: home,
        env: { ...process.env, HOME: home },
        encoding: "utf8",
      });
    expect([list().stdout, existsSync(started)]).toEqual(["[]\n", false]);
    list("--mcp-config", ".mcp.json");
    expect(existsSync(started)).toBe(true);
  });

  it("writes one JSON line an event on stderr, and nothing where telemetry is off [000-5.5-off] [000-3.1-structured-log]", () => {
    const index = new URL("../../src/index.ts", import.meta.url).href;
    const program = (telemetry: string): string => `
      import { ToolArsenal } from ${JSON.stringify(index)};
      const arsenal = new ToolArsenal({ telemetry: ${telemetry} });
      await arsenal.addTool({ name: "look_around", description: "Looks around for it.", parameters: { type: "object" } }, () => 1);
      await arsenal.execute({ toolName: "look_around" });
      await arsenal.close();`;
    const stderr = (telemetry: string): string =>
      spawnSync(process.execPath, ["--input-type=module", "--eval", program(telemetry)], { encoding: "utf8" }).stderr;
    expect(stderr('{ enabled: false, level: "debug" }')).toBe("");
    const lines = stderr('{ level: "debug" }').trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { readonly event: string }).event)).toContain("call-finished");
  });
});
