import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCollector } from "../../../test/doubles/otlp-collector.ts";
import { type Ran, runInMemory } from "../../../test/e2e/terminal.ts";
import { COMMANDS } from "../commands.ts";
import { keepsContract } from "./measure/benchmark.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder });

describe("list", () => {
  it("has one line a tool on stdout, ordered by id, and the count on stderr", async () => {
    const { code, out, err } = await run("list", "--namespace", "calendar");
    expect(code).toBe(0);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual(["calendar.cancel_meeting", "calendar.find_free_slot", "calendar.schedule_meeting"]);
    expect(err).toContain("3 tools\n");
  });

  it("fits the width of the terminal", async () => {
    const { out } = await runInMemory(["list"], { folder, isTTY: true, environment: { NO_COLOR: "1" } });
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it("writes nothing on stdout where there is nothing", async () => {
    expect(await run("list", "--namespace", "nowhere")).toMatchObject({ code: 0, out: "" });
  });

  it("marks what nobody may call with the rule", async () => {
    expect((await run("list")).out).toMatch(/\.drop_table +\(refused by security\.deny\) /);
  });
});

describe("search", () => {
  it("has one line a tool, best first, with its score", async () => {
    const { code, out, err } = await run("search", "give the customer the money back", "--limit", "2");
    const lines = out.trimEnd().split("\n");
    expect([code, lines.length]).toEqual([0, 2]);
    expect(lines[0]).toMatch(/^0\.\d{3} {2}billing\.process_refund /);
    expect(err).toMatch(/2 of \d+ tools, intent \w+, lexical, \d+\.\d ms\n$/);
  });

  it("--explain has the number behind each signal for what was chosen and for the best left out", async () => {
    const { out } = await run("search", "give the customer the money back", "--limit", "1", "--explain");
    expect(out).toContain("\nWhy\nscore");
    expect(out).toContain("\nLeft out\nscore");
    expect(out).toMatch(/billing\.process_refund +chosen.*(\+0\.\d{3} +){3}.*money:/);
    const json = JSON.parse((await run("search", "money back", "--explain", "--json")).out) as {
      readonly explanation: { readonly chosen: readonly { readonly signals: readonly object[] }[] };
    };
    expect(json.explanation.chosen[0]?.signals.length).toBeGreaterThanOrEqual(8);
  });

  it("counts the same tools as list, and says which are not searched", async () => {
    const module = `export default (arsenal) => arsenal.add([
      { tool: { name: "send_mail", description: "Sends an email to people.", parameters: { type: "object" } } },
      { tool: { name: "post_mail", description: "Sends an email to people.", parameters: { type: "object" }, deprecated: true } },
    ]);`;
    await writeFile(join(folder, "mails.mjs"), module);
    await writeFile(join(folder, "mails.yaml"), "modules: [mails.mjs]\ntelemetry: { enabled: false }\n");
    expect((await run("list", "--config", "mails.yaml")).err).toBe("2 tools\n");
    const { err } = await run("search", "send an email", "--config", "mails.yaml");
    expect(err).toMatch(/^1 of 2 tools \(1 deprecated, not searched\), intent/);
  });

  it("says when the tools it shows probably do not fit, in the words of find_relevant_tools", async () => {
    const asked = ["--tier", "static"];
    const { out, err } = await run("search", "paint the fence", ...asked);
    expect(out).not.toBe("");
    expect(err).toContain("Probably none of these tools fits. Use one only if its description says that it does");
    expect(JSON.parse((await run("search", "paint the fence", "--json", ...asked)).out)).toMatchObject({
      match: "weak",
    });
    const good = await run("search", "give the customer the money back", ...asked);
    expect(good.err).not.toContain("Probably none");
  });

  it("says so where nothing fits", async () => {
    expect(await run("search", "prove the theorem of Pythagoras")).toMatchObject({ code: 0, out: "Nothing fits.\n" });
  });
});

describe("doctor", () => {
  it("is content without a configuration, and says that there is none", async () => {
    const { code, out } = await run("doctor", "--running");
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {7}node: Node \d+/);
    expect(out).toContain(
      "warning  configuration: no arsenal.yaml here; every default applies\n         Create one with",
    );
  });

  it("finds each problem of a configuration, with its fix, and exits 1", async () => {
    await writeFile(join(folder, "bad.yaml"), "execution:\n  max_retrys: 2\nauto_sync: maybe\n");
    const { code, out } = await run("doctor", "--running", "--config", "bad.yaml", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      findings: [
        { check: "node", state: "ok" },
        { check: "configuration", state: "failed", fix: 'Did you mean "max_retries"?' },
        { check: "configuration", state: "failed", fix: "Set auto_sync to true or false." },
      ],
    });
  });

  it("finds a backend that is not there, a snapshot that cannot be written, a module that fails", async () => {
    await writeFile(join(folder, "boom.mjs"), "export default () => { throw new Error('boom'); };");
    await writeFile(join(folder, "more.yaml"), "vector_store:\n  snapshot: boom.mjs/tools.json\nmodules: [boom.mjs]\n");
    const { code, out } = await run("doctor", "--running", "--config", "more.yaml");
    expect(code).toBe(1);
    expect(out).toMatch(/failed {3}catalog: Cannot use the folder of the snapshot .*\n {9}Choose a writable folder/);
    expect(out).toContain("modules: boom.mjs failed: boom");
    await writeFile(join(folder, "store.yaml"), "vector_store:\n  type: nowhere\n");
    expect((await run("doctor", "--running", "--config", "store.yaml")).out).toContain(
      "Set vector_store.type to one of memory, ",
    );
  });

  it("checks the state, with and without limits of its own", async () => {
    await writeFile(
      join(folder, "state.yaml"),
      "state: { file: state.sqlite, limits: { type: sqlite, file: limits.sqlite } }\n",
    );
    const { code, out } = await run("doctor", "--running", "--config", "state.yaml");
    expect(code).toBe(0);
    expect(out).toMatch(/ok {7}state: keeps state in .*state\.sqlite\nok {7}limits: keeps state in .*limits\.sqlite\n/);
    expect(out.match(/ state: /g)).toHaveLength(1);
    await writeFile(join(folder, "a-file"), "");
    await writeFile(join(folder, "no-state.yaml"), "state: { file: a-file/state.sqlite }\n");
    const broken = await run("doctor", "--running", "--config", "no-state.yaml");
    expect(broken.code).toBe(1);
    expect(broken.out.match(/ state: /g)).toHaveLength(1);
    expect(broken.out).toMatch(/failed {3}state: The state file .*a-file.state\.sqlite cannot be used: .*\n {9}\S/);
  });

  it("checks the collector that telemetry goes to, and says once what is wrong", async () => {
    const collector = await startCollector();
    const config = `telemetry: { type: opentelemetry, otlp: { endpoint: "${collector.url}" } }\n`;
    await writeFile(join(folder, "otlp.yaml"), config);
    const { code, out } = await run("doctor", "--running", "--config", "otlp.yaml");
    expect(code).toBe(0);
    expect(out).toContain(`ok       telemetry: ${collector.url} accepts traces, logs, metrics\n`);
    await collector.close();
    const broken = await run("doctor", "--running", "--config", "otlp.yaml");
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(
      /failed {3}telemetry: Cannot send traces: the collector at .* cannot be reached.*\n {9}Start the collector, or correct telemetry\.otlp\.endpoint/,
    );
    expect(broken.out.match(/cannot be reached/g)).toHaveLength(1);
    await writeFile(join(folder, "off.yaml"), config.replace("{ type", "{ enabled: false, type"));
    expect(await run("doctor", "--running", "--config", "off.yaml")).toMatchObject({ code: 0 });
  });

  it("is content with a snapshot whose folder the arsenal will make, and tells of a damaged one, once", async () => {
    const config = "vector_store:\n  snapshot: data/tools.json\n";
    await writeFile(join(folder, "snapshot.yaml"), config);
    const first = await run("doctor", "--running", "--config", "snapshot.yaml");
    expect([first.code, first.out]).toEqual([0, expect.stringMatching(/ok {7}catalog: .*tools\.json/)]);
    await writeFile(join(folder, "data/tools.json"), "{");
    const { code, out } = await run("doctor", "--running", "--config", "snapshot.yaml");
    expect(code).toBe(1);
    expect(out).not.toMatch(/ok {7}catalog/);
    expect(out.match(/is damaged/g)).toHaveLength(1);
    expect(out.match(/Move .* away to start without it/g)).toHaveLength(1);
  });

  it("counts the tools of a good one", async () => {
    const module = `export default (arsenal) => arsenal.register(
      { name: "greet", description: "Greets somebody by name.", parameters: { type: "object" } }, () => "hello");`;
    await writeFile(join(folder, "greet.mjs"), module);
    await writeFile(join(folder, "good.yaml"), "modules: [greet.mjs]\n");
    const { code, out } = await run("doctor", "--running", "--config", "good.yaml");
    expect(code).toBe(0);
    expect(out).toContain("ok       store: works\nok       state: works\nok       tools: 1 registered\n");
  });
});

/** A server over standard streams with one tool. */
const MCP_SERVER = `
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mini", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "hello", description: "Says hello to somebody.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "hello there" }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method] ? { result: answers[method](params ?? {}) } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});`;

describe("commands on MCP servers", () => {
  beforeAll(async () => {
    await writeFile(join(folder, "mini.mjs"), MCP_SERVER);
    const good = { command: process.execPath, args: [join(folder, "mini.mjs")] };
    const servers = {
      good,
      dead: { command: "no-such-program-anywhere" },
      wrong: {},
      hub: { url: "http://127.0.0.1:1" },
    };
    await writeFile(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  });

  it("list and call wait for the first attempts, and tell who is absent and why", async () => {
    const { code, out, err } = await run("list", "--mcp-config", "mcp.json");
    expect([code, out]).toEqual([0, "good.hello  Says hello to somebody.\n"]);
    expect(err).toMatch(/^Left out: wrong: command is missing, and so is url\. Write command:/m);
    expect(err).toMatch(/^Cannot connect to dead: .*was not found/m);
    const called = await run("call", "good.hello", "--mcp-config", "mcp.json");
    expect([called.code, called.out]).toEqual([0, expect.stringContaining("hello there")]);
  });

  it("doctor connects each and says how to fix it", async () => {
    const { code, out } = await run("doctor", "--running", "--mcp-config", "mcp.json");
    expect(code).toBe(1);
    expect(out).toContain("ok       good: connected, 1 tool (2025-11-25)\n");
    expect(out).toMatch(/failed {3}wrong: command is missing, and so is url\n {9}Write command:/);
    expect(out).toMatch(/failed {3}dead: .*was not found.*\n {9}Install it,/);
    expect(out).toMatch(/failed {3}hub: .*\n {9}\S/);
    expect(out).toContain("ok       tools: 1 registered\n");
  });

  it("doctor says under a strict policy what waits to be accepted, and what a restart would lose", async () => {
    const server = { name: "good", command: process.execPath, args: [join(folder, "mini.mjs")] };
    await writeFile(
      join(folder, "strict.yaml"),
      JSON.stringify({ security: { policy: "strict" }, mcp: { servers: [server] } }),
    );
    const { code, out } = await run("doctor", "--running", "--config", "strict.yaml");
    expect(code).toBe(0);
    expect(out).toContain("warning  state: pins end with the process\n         Set state.file.\n");
    expect(out).toContain("warning  audit: calls are not recorded\n         Set audit.file.\n");
    expect(out).toMatch(
      /warning {2}pins: 1 of 1 wait for your acceptance and are not used\n {9}.*toolarsenal pins accept/,
    );
    expect(out).toMatch(/warning {2}tools: none registered\n {9}Accept the waiting pins\./);
  });

  it.each([
    ["nobody", 'No MCP server is named "nobody". Configured servers: good, dead, hub.'],
    ["god", 'No MCP server is named "god". Did you mean "good"?'],
    ["good", "good uses stdio, which has no sign-in. Set its credentials under env or headers."],
  ])("login to %s exits 2 and says why not", async (name, message) => {
    expect(await run("login", name, "--mcp-config", "mcp.json")).toEqual({
      code: 2,
      out: "",
      err: `INPUT_INVALID ${message}\n`,
    });
  });

  it("login names the invalid setting of a server that is left out for it", async () => {
    expect(await run("login", "wrong", "--mcp-config", "mcp.json")).toEqual({
      code: 2,
      out: "",
      err: expect.stringMatching(
        /^CONFIG_INVALID The settings of the MCP server "wrong" are invalid: command is missing, and so is url\. Write command:/,
      ),
    });
  });

  it("login says what to do where no server is configured", async () => {
    expect((await run("login", "github")).err).toContain("Add it to arsenal.yaml");
  });
});

describe("completion", () => {
  it.each(["bash", "zsh", "fish"])("for %s knows every command and its options", async (shell) => {
    const { code, out, err } = await run("completion", shell);
    expect([code, err]).toEqual([0, ""]);
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      expect(out).toContain(name);
      for (const option of Object.keys((await load()).options ?? {}))
        expect(out).toContain(shell === "fish" ? `-l ${option}` : `--${option}`);
      for (const action of Object.keys((await load()).actions ?? {}))
        expect(out).toMatch(new RegExp(`[ '"]${action}\\b`));
    }
  });

  const hasBash = spawnSync("bash", ["--version"]).status === 0;
  // because it needs bash.
  it.runIf(hasBash)("for bash completes when sourced", async () => {
    const { out } = await run("completion", "bash");
    const complete = (...words: readonly string[]): string => {
      const list = words.map((word) => `'${word}'`).join(" ");
      const script = `${out}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _toolarsenal; echo "\${COMPREPLY[*]}"`;
      const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
      return stdout.trim();
    };
    expect(spawnSync("bash", ["-n"], { input: out }).status).toBe(0);
    expect(complete("toolarsenal", "sea")).toBe("search");
    expect(complete("toolarsenal", "search", "--e")).toBe("--explain");
    expect(complete("toolarsenal", "call", "--a")).toBe("--args --args-file --approve");
    expect(complete("toolarsenal", "policy", "")).toBe("test explain");
    expect(complete("toolarsenal", "approvals", "a")).toBe("approve");
    expect(complete("toolarsenal", "completion", "z")).toBe("zsh");
    expect(complete("toolarsenal", "policy", "test", "--pol")).toBe("--policy");
  });
});

describe("benchmark", () => {
  it("prints ratios against baselines of the same run, aims beside them, and whether the contract is kept", async () => {
    const { code, out } = await run("benchmark", "--tools", "10", "--quick");
    expect(code).toBe(0);
    for (const tier of ["lexical", "static"])
      expect(out).toMatch(
        new RegExp(String.raw`^10 +${tier} +[\d,]+/s +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d× +\d+\.\d KiB$`, "m"),
      );
    expect(out).toMatch(/^P95 retrieval by words, 10 tools +< 5 ms +\d+\.\d\d ms +\d+\.\d\d ms, plain BM25/m);
    expect(out).toMatch(/^registration, 10 tools, static +> 5,000\/s +[\d,]+\/s +[\d,]+\/s, copying each definition/m);
    expect(out).toMatch(
      /^a call through the engine, over a direct one +< 0\.1 ms +-?\d+\.\d{4} ms +\d+\.\d{4} ms, calling/m,
    );
    expect(out).toContain("kept: P95 retrieval below 50 ms at 10 tools, static tier, best of three");
  });

  it("measures one tier alone where asked, holds it to the contract, and prints one JSON value and nothing on stderr", async () => {
    const { code, out, err } = await run("benchmark", "--tools", "10", "--quick", "--tier", "lexical", "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({
      contractMs: 50,
      contractTier: "lexical",
      kept: true,
      retrieval: [{ tools: 10, tier: "lexical" }],
    });
  });

  it("keeps its contract below 50 ms at the size and tier asked for, whatever others do", () => {
    const at = (tools: number, tier: string, p95Ms: number): { tools: number; tier: string; p95Ms: number } => {
      return { tools, tier, p95Ms };
    };
    expect(keepsContract([at(1000, "static", 49.9)], 1000, "static")).toBe(true);
    expect(keepsContract([at(1000, "static", 50)], 1000, "static")).toBe(false);
    expect(keepsContract([at(1000, "static", 1), at(100_000, "static", 900)], 1000, "static")).toBe(true);
    expect(keepsContract([at(1000, "lexical", 1), at(1000, "static", 900)], 1000, "static")).toBe(false);
    expect(keepsContract([at(1000, "static", Infinity)], 1000, "static")).toBe(false);
    expect(keepsContract([], 1000, "static")).toBe(false);
  });

  it("names the tiers where there is none of that name", async () => {
    const { code, err } = await run("benchmark", "--tier", "best");
    expect(code).toBe(2);
    expect(err).toContain('--tier cannot be "best". Use one of lexical, static, tuned.');
  });

  it.each(["9", "1.5", "-1", "1000001", "many"])("refuses %s tools", async (count) => {
    expect(await run("benchmark", `--tools=${count}`)).toMatchObject({ code: 2, out: "" });
  });
});
