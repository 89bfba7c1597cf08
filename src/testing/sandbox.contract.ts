import assert from "node:assert/strict";
import { SANDBOX_LIMITS, type Sandbox, type SandboxJob, type SandboxOutcome } from "../execute/sandbox.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** The contract of every sandbox. The sandbox under test must be available. */
export function sandboxContract(make: Make<Sandbox>): readonly ContractCase[] {
  const script = (code: string, more: Partial<SandboxJob> = {}): SandboxJob =>
    ({ kind: "javascript", code, limits: SANDBOX_LIMITS, ...more }) as SandboxJob;
  const run = (sandbox: Sandbox, code: string, more?: Partial<SandboxJob>): Promise<SandboxOutcome> =>
    sandbox.run(script(code, more));
  const withLimits = (limits: Partial<typeof SANDBOX_LIMITS>): Partial<SandboxJob> => ({
    limits: { ...SANDBOX_LIMITS, ...limits },
  });
  /** Claims about JavaScript apply only to sandboxes that run JavaScript. */
  const ofScripts = (check: (sandbox: Sandbox) => Promise<void>) => async (sandbox: Sandbox) => {
    if (sandbox.kinds.includes("javascript")) await check(sandbox);
  };

  return contract(make, {
    "has a name, runs something, and is available": async (sandbox) => {
      assert.ok(sandbox.name.length > 0);
      assert.ok(sandbox.kinds.length > 0);
      assert.equal(await sandbox.available(), true);
    },
    "gives code its input and returns what it returns": ofScripts(async (sandbox) => {
      const { status, result } = await run(sandbox, "return { twice: input.x * 2, list: [null, 'a'] };", {
        input: { x: 21 },
      });
      assert.deepEqual({ status, result }, { status: "ok", result: { twice: 42, list: [null, "a"] } });
    }),
    "has no result of code that returns nothing": ofScripts(async (sandbox) => {
      const outcome = await run(sandbox, "await Promise.resolve();");
      assert.equal(outcome.status, "ok");
      assert.equal("result" in outcome, false);
    }),
    "keeps what code prints": ofScripts(async (sandbox) => {
      const { stdout, stderr } = await run(sandbox, 'console.log("to stdout"); console.error("to stderr");');
      assert.equal(stdout, "to stdout\n");
      assert.equal(stderr, "to stderr\n");
    }),
    "reports the error of the code": ofScripts(async (sandbox) => {
      const thrown = await run(sandbox, 'throw new TypeError("no such thing");');
      assert.equal(thrown.status, "failed");
      assert.equal(thrown.reason, "TypeError: no such thing");
      const unreadable = await run(sandbox, "return }{;");
      assert.equal(unreadable.status, "failed");
      assert.match(unreadable.reason ?? "", /^SyntaxError: /);
    }),
    "ends code that waits for nothing": ofScripts(async (sandbox) => {
      assert.equal((await run(sandbox, "await new Promise(() => {});")).status, "failed");
    }),
    "ends code that takes too long": ofScripts(async (sandbox) => {
      const { status, reason } = await run(sandbox, "for (;;);", withLimits({ timeoutMs: 300 }));
      assert.equal(status, "timeout");
      assert.equal(reason, "It did not end within 300 ms.");
    }),
    "ends code that returns too much": ofScripts(async (sandbox) => {
      const { status, reason } = await run(sandbox, 'return "x".repeat(20_000);', withLimits({ outputBytes: 10_000 }));
      assert.equal(status, "killed");
      assert.equal(reason, "It wrote more than 10000 bytes.");
    }),
    "lets no prototype through in a result": ofScripts(async (sandbox) => {
      const { result } = await run(sandbox, `return JSON.parse('{"__proto__":{"polluted":true},"kept":1}');`);
      assert.deepEqual(Object.getOwnPropertyNames(result), ["kept"]);
    }),
    "runs many jobs at once": ofScripts(async (sandbox) => {
      const outcomes = await Promise.all([1, 2, 3, 4].map((input) => run(sandbox, "return input;", { input })));
      const results = outcomes.map(({ result }) => result);
      assert.deepEqual(results, [1, 2, 3, 4]);
    }),
    "runs nothing once cancelled, and ends what runs": ofScripts(async (sandbox) => {
      const limits = { ...SANDBOX_LIMITS, timeoutMs: 60_000, cpuMs: 60_000 };
      await assert.rejects(run(sandbox, "for (;;);", { limits, signal: AbortSignal.abort() }), { code: "CANCELLED" });
      const controller = new AbortController();
      const running = run(sandbox, "for (;;);", { limits, signal: controller.signal });
      setImmediate(() => controller.abort());
      await assert.rejects(running, { code: "CANCELLED" });
    }),
    "lets code call functions, or says that it cannot": ofScripts(async (sandbox) => {
      const functions = { double: (x: unknown) => Number(x) * 2 };
      const running = run(sandbox, "return host.double(21);", { functions });
      await running.then(
        ({ result }) => assert.equal(result, 42),
        (error: unknown) => assert.equal((error as { readonly code?: string }).code, "SANDBOX_FAILED"),
      );
    }),
    "runs a command without a shell, or says that it cannot": async (sandbox) => {
      const job = { kind: "command", argv: ["echo", "$HOME; ls"], limits: SANDBOX_LIMITS } as const;
      if (!sandbox.kinds.includes("command")) return assert.rejects(sandbox.run(job), { code: "SANDBOX_FAILED" });
      const { status, exitCode, stdout } = await sandbox.run(job);
      assert.deepEqual({ status, exitCode, stdout }, { status: "ok", exitCode: 0, stdout: "$HOME; ls\n" });
    },
    "gives a command its input, and reports its failure": async (sandbox) => {
      if (!sandbox.kinds.includes("command")) return;
      const command = (argv: readonly [string, ...string[]]): SandboxJob => ({
        kind: "command",
        argv,
        input: "given",
        limits: SANDBOX_LIMITS,
      });
      assert.equal((await sandbox.run(command(["cat"]))).stdout, "given");
      const { status, exitCode, reason } = await sandbox.run(command(["sh", "-c", "exit 3"]));
      assert.deepEqual(
        { status, exitCode, reason },
        { status: "failed", exitCode: 3, reason: "It ended with exit code 3." },
      );
    },
  });
}
