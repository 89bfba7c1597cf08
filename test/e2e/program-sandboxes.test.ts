import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import { createPrincipal } from "../../src/guard/principal.ts";
import { startConfined } from "../../src/programs/processes/confined-process.ts";
import { findRuntime } from "../../src/programs/processes/runtimes.ts";
import type { ProgramSandbox } from "../../src/programs/program.ts";
import { findProgram } from "../../src/system/find-program.ts";
import { ROOT } from "../repo/project.ts";
import { some } from "../kit/effort.ts";
import { HOSTILE_PROGRAMS } from "./hostile/hostile-programs.ts";

/** Deno comes with test/peers, or is in PATH. */
const peer = `${ROOT}test/peers/node_modules/@deno/linux-x64-glibc/deno`;
const denoPath = existsSync(peer) ? peer : findProgram("deno");

const ran: string[] = [];
let requests = 0;
const server = createServer((_request, response) => (requests++, response.end("reached")));
beforeAll(() => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready)));
afterAll(() => server.close());

function arsenalOn(sandbox: ProgramSandbox): ToolArsenal {
  const arsenal = new ToolArsenal({
    embedder: { tier: "lexical" },
    telemetry: { enabled: false },
    programs: {
      sandbox,
      ...(denoPath !== undefined && { denoPath }),
      cpuMs: 400,
      timeoutS: 20,
      calls: 50,
      parallelCalls: 3,
      valueBytes: 2_000,
      logBytes: 500,
    },
    policy: {
      sees: (tool) => tool.namespace !== "secret",
      decide: ({ tool }) =>
        tool.namespace === "closed"
          ? { effect: "deny", rule: "shut", reason: "It is shut." }
          : tool.name === "pay"
            ? { effect: "confirm", rule: "ask", reason: "It pays." }
            : { effect: "allow" },
    },
  });
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  for (const namespace of ["open", "closed", "secret"])
    arsenal.register({ name: "echo", namespace, description: "Repeats a text.", parameters }, ({ text }) => {
      ran.push(namespace);
      return text;
    });
  arsenal.register({ name: "fail", namespace: "open", description: "Fails.", parameters: { type: "object" } }, () => {
    throw new Error("broken");
  });
  arsenal.register(
    { name: "pay", namespace: "open", description: "Pays.", parameters },
    ({ text }) => (ran.push("pay"), `paid ${text}`),
  );
  let atOnce = 0;
  let most = 0;
  arsenal.register(
    { name: "busy", namespace: "open", description: "Reports how many run at once.", parameters: { type: "object" } },
    async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((done) => setImmediate(done));
      atOnce--;
      return most;
    },
  );
  return arsenal;
}

const BOT = createPrincipal({ id: "bot", scopes: ["*"] });

/** The language of programs: the same on every sandbox. */
const LANGUAGE: readonly (readonly [what: string, code: string, value: unknown])[] = [
  ["the last expression", "const a = 1;\na + 1", 2],
  ["an early return", "if (true) return 1;\n2", 1],
  ["the last expression after a return that was not taken", "if (false) return 1;\n2", 2],
  ["the last expression of a branch", "if (await open.echo({ text: 'x' })) { ({ a: 1 }) } else { 2 }", { a: 1 }],
  ["the last expression of a loop", "for (const n of [1, 2, 3]) { n * 2; }", 6],
  [
    "types",
    "interface A { a: number }\nconst f = <T>(x: T): T => x;\nconst a: A = { a: f<number>(3) };\na.a as number",
    3,
  ],
  ["no value", "const a = 1;", undefined],
  ["lines without semicolons", "const list = [1, 2]\nlist.push(3)\nlist", [1, 2, 3]],
  [
    "a map, a set and a date",
    "({ m: new Map([['a', 1]]), s: new Set([1]), d: new Date(0) })",
    { m: { a: 1 }, s: [1], d: "1970-01-01T00:00:00.000Z" },
  ],
  [
    "helpers",
    "[pick([{ a: 1, b: 2 }], 'a'), count(['x', 'x']), dates.day(dates.add('2026-01-30', 2))]",
    [[{ a: 1 }], { x: 2 }, "2026-02-01"],
  ],
  ["calls at once, in order", "await parallel(['a', 'b', 'c'], 2, (text) => open.echo({ text }))", ["a", "b", "c"]],
  [
    "an error as a value",
    "try { await open.fail({}) } catch (error) { [error.name, error.code, error.tool] }",
    ["ToolError", "EXECUTION_FAILED", "open.fail"],
  ],
  [
    "a pause, and time that stands still",
    "const t = Date.now(); await sleep(1); [Date.now() > t, Date.now() - Date.now()]",
    [true, 0],
  ],
  ["a promise", "(async () => await open.echo({ text: 'late' }))()", "late"],
  ["calls that nobody awaits", "open.echo({ text: 'late' }); 'early'", "early"],
  ["a global that it sets", "globalThis.mine = 1; mine", 1],
  [
    "a promise that it tests, passes on and awaits later",
    `const one = open.echo({ text: "x" });
     const list = [one instanceof Promise, Array.isArray(one), typeof one.then, typeof one.finally, one?.constructor === Promise];
     const tag = Object.prototype.toString.call(one);
     const [raced, settled] = [await Promise.race([one]), await Promise.allSettled([one, 1])];
     [...list, tag, Object.keys(one), [].concat(one).length, await one, raced, settled.length, await one.then((text) => text.length)]`,
    [true, false, "function", "function", true, "[object Promise]", [], 1, "x", "x", 2, 1],
  ],
  [
    "a subclass of promises with members",
    "class Job extends Promise { get done() { return 1; } }\nJob.resolve(2).done",
    1,
  ],
  ["a printed promise", "console.log(open.echo({ text: 'x' }))", undefined],
];

/** Programs that fail, with a part of the message, and the line. */
const FAILURES: readonly (readonly [what: string, code: string, message: RegExp, line: number | undefined])[] = [
  ["a syntax error", "const a = 1;\nconst b = ;", /SyntaxError/, 2],
  ["a thrown error", "\n\nnull.x", /TypeError/, 3],
  ["a failed call", "\nawait open.fail({})", /broken/, 2],
  [
    "a failed call after many others",
    "for (let n = 0; n < 30; n++) await open.echo({ text: 'x' });\n\nawait Promise.all([open.fail({})]);",
    /broken/,
    3,
  ],
  ["too much computing", "for (;;);", /computed for more than 400 ms/, undefined],
  ["too much computing in promises", "for (;;) await null;", /computed for more than 400 ms/, undefined],
  ["too many calls", "for (;;) await open.echo({ text: 'x' })", /more than 50 calls/, undefined],
  [
    "too much memory",
    "const kept = []; for (;;) kept.push(new Array(100_000).fill(kept.length));",
    /memory|computed/,
    undefined,
  ],
  [
    "a member of a call without await",
    "const a = 1;\nconst list = open.echo({ text: 'x' });\nlist.length",
    /open\.echo was called without await, so its result has no "length"\. Write: await open\.echo\(…\)/,
    3,
  ],
  ["a method of a call without await", "open.echo({ text: 'x' }).split(' ')", /without await.*no "split"/, 1],
  ["a destructured call without await", "const { id } = open.echo({ text: 'x' });", /without await.*no "id"/, 1],
  [
    "a loop over a call without await",
    "for (const each of open.echo({ text: 'x' })) each",
    /open\.echo.*without await/,
    1,
  ],
  ["a call without await in a text", "`got ${open.echo({ text: 'x' })}`", /open\.echo was called without await/, 1],
  [
    "a call without await in the value",
    "({ list: open.echo({ text: 'x' }) })",
    /open\.echo was called without await.*Write: await open\.echo\(…\)/,
    undefined,
  ],
  ["a call without await in arguments", "await open.echo({ text: open.echo({ text: 'x' }) })", /without await/, 1],
  ["picked members of a call without await", "pick(open.echo({ text: 'x' }), 'a')", /open\.echo.*without await/, 1],
  [
    "a member of an own async function without await",
    "const load = async () => [await open.echo({ text: 'x' })];\nload().length",
    /promise has no "length": an async function was called without await/,
    2,
  ],
  ["a promise that nothing resolves", "await new Promise(() => {})", /nothing resolves/, undefined],
];

for (const sandbox of ["quickjs", "node", "deno"] as const) {
  const arsenal = arsenalOn(sandbox);
  const problem = await arsenal.start().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (problem !== undefined) process.stderr.write(`Programs are not run in ${sandbox}: ${problem}\n`);
  afterAll(() => arsenal.close());
  const run = (code: string) => arsenal.runCode({ code, principal: BOT });

  // because bubblewrap and Deno are not on every machine; why is printed above.
  describe.skipIf(problem !== undefined)(`programs in ${sandbox}`, () => {
    it.each(some(LANGUAGE, sandbox === "deno" ? 5 : LANGUAGE.length))(
      "have a value: %s",
      async (_what, code, value) => {
        expect(await run(code)).toMatchObject({ status: "success", value });
      },
    );

    it.each(FAILURES)("are ended with a clear error: %s", async (_what, code, message, line) => {
      const { status, error } = await run(code);
      expect({ status, ...error }).toMatchObject({ status: "failure", message: expect.stringMatching(message) });
      if (line !== undefined) expect(error?.line).toBe(line);
    });

    it("cut their value and what they print, and say so", async () => {
      const result = await run(
        "for (let n = 0; n < 100; n++) console.log('line', n); Array.from({ length: 2000 }, (_, n) => n)",
      );
      expect(result.logs.join("\n").length).toBeLessThan(600);
      expect(result.logs.at(-1)).toMatch(/more lines were dropped/);
      expect(result.truncated).toMatch(/a list of 2000 items/);
    });

    it("make at most three calls at once", async () => {
      const { value } = await run("Math.max(...await Promise.all(Array.from({ length: 20 }, () => open.busy({}))))");
      expect(value).toBe(3);
    });

    it("wait for an approval, go on after it, and repeat nothing", async () => {
      const code = `const before = Math.random(); await open.echo({ text: "${sandbox}" }); [await open.pay({ text: 'it' }), before === Math.random()]`;
      ran.length = 0;
      const waiting = await run(code);
      expect(waiting).toMatchObject({ status: "pending_confirmation", calls: [{ tool: "open.echo" }] });
      await arsenal.approvals.approve(
        waiting.confirmationId ?? "",
        createPrincipal({ id: "boss", roles: ["approver"] }),
      );
      expect(await run(code)).toMatchObject({ status: "success", value: ["paid it", false] });
      expect(ran).toEqual(["open", "pay"]);
    });

    it("stop when they are cancelled", async () => {
      const stop = new AbortController();
      const running = arsenal.runCode({ code: "await sleep(60_000)", principal: BOT, signal: stop.signal });
      setImmediate(() => stop.abort());
      expect(await running.catch((error: { code: string }) => ({ status: error.code }))).toMatchObject({
        status: expect.stringMatching(/cancelled|CANCELLED/),
      });
    });

    it.each(some(HOSTILE_PROGRAMS, { quickjs: 0, node: 8, deno: 4 }[sandbox]))(
      "gain nothing: $what",
      async ({ code, value, error }) => {
        ran.length = 0;
        const result = await run(code);
        if (error !== undefined) expect(result.status).toBe("failure");
        else if (value !== "(anything)") expect(result).toMatchObject({ status: "success", value });
        expect(ran.filter((namespace) => namespace !== "open")).toEqual([]);
        expect(JSON.stringify(result).length).toBeLessThan(100_000);
        expect(await run("await open.echo({ text: 'fine' })")).toMatchObject({ value: "fine" });
      },
    );
  });
}

/** Code of a runtime that no realm holds, as if a program had left its own. Each line tries one thing, and prints what it got. */
const ATTEMPTS = `
const attempt = async (name, run) => {
  let got;
  try { got = await run(); } catch (error) { got = "no: " + (error?.code ?? error?.name); }
  process.stdout.write(JSON.stringify({ kind: "print", line: JSON.stringify([name, got]) }) + "\\n");
};
const load = (name) => process.getBuiltinModule("node:" + name);
await attempt("environment", () => Object.keys(process.env).filter((name) => !/^(DENO_|NO_COLOR|PWD|PATH)/.test(name)));
await attempt("accounts", () => load("fs").readFileSync("/etc/passwd", "utf8").length);
await attempt("files", () => load("fs").readdirSync("/").filter((name) => ["home", "root", "etc", "var", "work"].includes(name)));
await attempt("writing", () => (load("fs").writeFileSync("/program/x", ""), "written"));
await attempt("processes", () => load("fs").readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length);
await attempt("network", () => new Promise((done, fail) => load("net").connect(PORT, "127.0.0.1", () => done("reached")).on("error", fail)));
await attempt("end", () => "end");
`;

describe("a program that leaves its realm", () => {
  it.each(["node", "deno"] as const)("finds nothing in the sandbox of %s", async (runtime) => {
    if (runtime === "deno" && denoPath === undefined) return;
    const found = findRuntime(runtime, { denoPath, memoryBytes: 64 * 1024 * 1024 });
    const { port } = server.address() as AddressInfo;
    const code = ATTEMPTS.replaceAll("PORT", String(port));
    const text = runtime === "node" ? code : `import process from "node:process";\n${code}`;
    // Without the permissions of the runtimes: what is left is bubblewrap.
    const argv = runtime === "node" ? ["--input-type=module", "--eval", text] : ["eval", "--quiet", text];
    const lines: (readonly [string, unknown])[] = [];
    const bounds = { cpuMs: 10_000, memoryBytes: 64 * 1024 * 1024 };
    await new Promise<void>((done, fail) => {
      const confined = { ...found, argv: [`/runtime/${runtime}`, ...argv] as const };
      startConfined(confined as never, bounds, {
        message(message) {
          if (message.kind !== "print") return;
          const line = JSON.parse(message.line) as readonly [string, unknown];
          if (line[0] === "end") done();
          else lines.push(line);
        },
        lost: (why) => fail(new Error(why)),
      });
    });
    expect(Object.fromEntries(lines)).toEqual({
      environment: [],
      accounts: "no: ENOENT",
      files: [],
      writing: expect.stringMatching(/no: (EROFS|EACCES)/),
      processes: 1,
      network: expect.stringMatching(/^no: /),
    });
    expect(requests).toBe(0);
  });
});

describe("a sandbox of programs that does not work here", () => {
  it("refuses to start, and says what to install", async () => {
    vi.stubEnv("PATH", "/nowhere");
    try {
      await expect(new ToolArsenal({ programs: { sandbox: "node" } }).start()).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(/programs\.sandbox is node.*apt-get install bubblewrap/),
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("names Deno and its setting if it is missing", async () => {
    const arsenal = new ToolArsenal({ programs: { sandbox: "deno", denoPath: "/nowhere/deno" } });
    await expect(arsenal.start()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/deno was not found at \/nowhere\/deno\. .*programs\.deno_path/),
    });
  });
});
