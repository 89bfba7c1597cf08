import { describe, expect, it } from "vitest";
import {
  SANDBOX_LIMITS,
  type JavaScriptJob,
  type SandboxJob,
  type SandboxOutcome,
} from "../../../execute/sandbox.port.ts";
import { sandboxContract } from "../../../testing/sandbox.contract.ts";
import { compileInterpreter, createMemory, loadInterpreter } from "./interpreter.ts";
import { isolateSandbox } from "./isolate.ts";

const run = (code: string, more: Partial<JavaScriptJob> = {}): Promise<SandboxOutcome> =>
  isolateSandbox().run({ kind: "javascript", code, limits: SANDBOX_LIMITS, ...more });

describe("isolate", () => {
  for (const { name, run: check } of sandboxContract(() => ({ adapter: isolateSandbox() }))) it(name, check);

  it("has the language's own objects in it, and nothing of the program", async () => {
    const { result } = await run(
      "return ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Buffer', 'Worker'].filter((name) => name in globalThis);",
    );
    expect(result).toEqual([]);
    expect((await run("return Object.keys(globalThis);")).result).toEqual(["host", "console"]);
    expect(await run('return import("node:fs");')).toMatchObject({ status: "failed" });
  });

  it("has another realm: no constructor leads out of it", async () => {
    const { result } = await run(
      'return Promise.all([host.ping, console.log].map((f) => f.constructor("return typeof process + typeof globalThis.host")()));',
      { functions: { ping: () => 1 } },
    );
    expect(result).toEqual(["undefinedobject", "undefinedobject"]);
  });

  it.each([
    ["a loop", "for (;;);"],
    ["a loop that catches everything", "for (;;) try { for (;;); } catch {}"],
    ["promises without end", "const again = () => Promise.resolve().then(again); await again();"],
    ["an expression that backtracks", "return /^(a+)+$/.test('a'.repeat(40) + 'b');"],
  ])("ends %s at the limit of computing time", async (_what, code) => {
    expect(await run(code, { limits: { ...SANDBOX_LIMITS, cpuMs: 200 } })).toMatchObject({
      status: "killed",
      reason: "It computed for more than 200 ms.",
    });
  });

  it("adds up what code computes between its waits", async () => {
    const code =
      "for (let i = 0; i < 20; i++) { const start = Date.now(); while (Date.now() - start < 50); await host.ping(); }";
    const limits = { ...SANDBOX_LIMITS, cpuMs: 300 };
    expect(await run(code, { limits, functions: { ping: () => 1 } })).toMatchObject({ status: "killed" });
  });

  it("does not count the time that code waits as computing", async () => {
    const limits = { ...SANDBOX_LIMITS, cpuMs: 150 };
    const slow = (): Promise<string> => new Promise((answer) => setTimeout(() => answer("late"), 250));
    expect(await run("return host.slow();", { limits, functions: { slow } })).toMatchObject({ result: "late" });
  });

  it.each([
    ["texts", 'const kept = []; for (;;) kept.push("x".repeat(1_000_000) + kept.length);'],
    ["one array", "return new Uint8Array(2_000_000_000).length;"],
    ["objects", "const kept = []; for (;;) kept.push({ kept });"],
  ])("refuses memory beyond the limit for %s [002-sandbox-memory]", async (_what, code) => {
    const { status, reason } = await run(code);
    expect(status).toBe("failed");
    expect(reason).toMatch(/out of memory/);
  });

  it("counts memory from the first byte, and can take no more than the limit whatever the interpreter believes", async () => {
    const limits = { ...SANDBOX_LIMITS, memoryBytes: 1024 * 1024 };
    expect(await run("return new Uint8Array(4_000_000).length;", { limits })).toMatchObject({ status: "failed" });
    const interpreter = await loadInterpreter(await compileInterpreter(), createMemory(1024 * 1024));
    const memory = interpreter.getWasmMemory() as unknown as { grow(pages: number): number };
    expect(memory.grow(16)).toBe(256);
    expect(() => memory.grow(1)).toThrow("Maximum memory size exceeded");
  });

  it("ends recursion without end", async () => {
    const { status } = await run("const deeper = () => 1 + deeper(); return deeper();");
    expect(status).toBe("failed");
    expect(await run("return JSON.parse('['.repeat(100_000));")).toMatchObject({ status: "failed" });
  });

  it("keeps the event loop free", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await run("for (;;);", { limits: { ...SANDBOX_LIMITS, cpuMs: 300 } });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
  });

  it("ends code that prints too much, and keeps what it printed before", async () => {
    const limits = { ...SANDBOX_LIMITS, outputBytes: 10 };
    const code = 'console.log("12345"); try { console.log("123456"); } catch {} return "went on";';
    expect(await run(code, { limits })).toMatchObject({ status: "killed", stdout: "12345\n" });
  });

  it("changes no prototype of the program, in whatever way code tries", async () => {
    const seen: unknown[] = [];
    const code = `
      Object.prototype.polluted = true;
      Array.prototype.push = () => "mine";
      JSON.stringify = () => '{"forged":true}';
      await host.take(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'));
      const { log } = console;
      return { ["__proto__"]: { polluted: true }, x: 1 };`;
    const { status, result } = await run(code, { functions: { take: (argument) => void seen.push(argument) } });
    expect({ status, result }).toEqual({ status: "ok", result: { x: 1 } });
    expect(seen.map((argument) => Object.getOwnPropertyNames(argument))).toEqual([["constructor"]]);
    expect(({} as { readonly polluted?: boolean }).polluted).toBeUndefined();
  });

  describe("functions", () => {
    it("are called at the same time, with JSON data in and out", async () => {
      const add = async (argument: unknown): Promise<unknown> => ({ sum: (argument as { n: number }).n + 1 });
      const code = "return Promise.all([host.add({ n: 1 }), host.add({ n: 2 })]);";
      expect((await run(code, { functions: { add } })).result).toEqual([{ sum: 2 }, { sum: 3 }]);
    });

    it("give code the message of their errors and nothing more", async () => {
      const fail = (): never => {
        throw new Error("not today");
      };
      const code =
        "try { await host.fail(); } catch (error) { return [error.message, error.stack.includes('file:')]; }";
      expect((await run(code, { functions: { fail } })).result).toEqual(["not today", false]);
    });

    it("are those the job names: the list can neither grow nor be looked through", async () => {
      const code = `
        "use strict";
        const tries = [() => { host.other = 1; }, () => { delete host.ping; }, () => { globalThis.host = {}; }, () => host.toString()];
        return tries.map((attempt) => { try { attempt(); return "done"; } catch (error) { return error.name; } });`;
      const { result } = await run(code, { functions: { ping: () => 1 } });
      expect(result).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
    });

    it("are not called more often at once than the program can bear", async () => {
      let open = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        most = Math.max(most, ++open);
        await new Promise(setImmediate);
        open--;
      };
      const code =
        "const ends = await Promise.allSettled(Array.from({ length: 1000 }, () => host.work())); return ends.filter((end) => end.status === 'rejected').length;";
      expect((await run(code, { functions: { work } })).result).toBe(936);
      expect(most).toBeLessThanOrEqual(64);
    });

    it("are told when nobody waits for them any more", async () => {
      const caller = new AbortController();
      const { promise: told, resolve } = Promise.withResolvers<string>();
      const wait = (_argument: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
        signal.addEventListener("abort", () => resolve("told"));
        caller.abort();
        return new Promise(() => {});
      };
      const running = run("await host.wait();", { functions: { wait }, signal: caller.signal });
      await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
      expect(await told).toBe("told");
    });
  });

  it.each([
    ["read", { read: ["/etc"] }],
    ["write", { write: ["/tmp"] }],
    ["env", { env: { A: "1" } }],
    ["network", { network: true }],
  ] satisfies readonly (readonly [string, Partial<SandboxJob>])[])(
    "says that it has no %s to give, instead of running without",
    async (field, asked) => {
      await expect(run("return 1;", asked as Partial<JavaScriptJob>)).rejects.toMatchObject({
        code: "SANDBOX_FAILED",
        details: { field },
      });
    },
  );
});
