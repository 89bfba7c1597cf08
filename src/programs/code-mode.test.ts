import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { createPrincipal, localOperator } from "../guard/principal.ts";

const ran: unknown[] = [];
let reads = 0;
const arsenal = new ToolArsenal({ embedder: { tier: "lexical" } });
afterAll(() => arsenal.close());

arsenal.register(
  {
    name: "list_issues",
    namespace: "tracker",
    description: "Lists the issues of a project, one page at a time.",
    parameters: {
      type: "object",
      properties: { project: { type: "string" }, page: { type: "integer" } },
      required: ["project"],
    },
    annotations: { readOnly: true, confirmed: true },
  },
  ({ page = 1 }) => ({
    read: ++reads,
    issues: [1, 2, 3].map((n) => ({
      id: n + 3 * (page - 1),
      state: n === 2 ? "closed" : "open",
      title: `Issue ${n}`,
    })),
    next: page < 3 ? page + 1 : null,
  }),
);
arsenal.register(
  {
    name: "close_issue",
    namespace: "tracker",
    description: "Closes an issue.",
    parameters: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    requiresConfirmation: true,
  },
  ({ id }) => (ran.push(id), { closed: id }),
);
arsenal.register(
  {
    name: "fail",
    namespace: "tracker",
    description: "Fails always.",
    parameters: { type: "object" },
  },
  () => {
    throw new Error("the disk is full");
  },
);
arsenal.register(
  {
    name: "wipe",
    namespace: "vault",
    description: "Wipes.",
    parameters: { type: "object" },
    requiredScopes: ["vault"],
  },
  () => "wiped",
);
arsenal.register({ namespace: "my-tracker", name: "open", description: "Opens." }, () => "opened");
arsenal.register({ name: "count_rows", description: "Counts the rows." }, () => ({ rows: 10n }));
arsenal.register({ name: "greet", description: "Greets.", parameters: { type: "object" } }, () => "hello");

const run = (code: string, more: object = {}) => arsenal.runCode({ code, ...more });

describe("a program", () => {
  it("loops over pages, keeps what it printed, and returns its last expression", async () => {
    const result = await run(`
      const all: { id: number; state: string }[] = [];
      for (let page: number | null = 1; page !== null; ) {
        const { issues, next } = await tracker.list_issues({ project: "x", page });
        all.push(...issues);
        page = next;
      }
      console.log("read", all.length);
      count(all, "state")`);
    expect(result).toMatchObject({
      status: "success",
      value: { open: 6, closed: 3 },
      logs: ["read 9"],
    });
    expect(result.calls.map(({ tool, status }) => [tool, status])).toEqual(
      Array.from({ length: 3 }, () => ["tracker.list_issues", "success"]),
    );
  });

  it.each([
    ["an early return", "if (true) return 1;\n2", 1],
    ["the last expression after a return that was not taken", "if (false) return 1;\n2", 2],
    ["a typed function with type arguments", "const f = <T>(x: T): T => x;\nreturn f<number>(3);", 3],
    ["a tool without a namespace", "await greet()", "hello"],
    ["every tool by name", "await tools.tracker.list_issues({ project: 'x' }).then((page) => page.next)", 2],
    ["no value", "const a = 1;", undefined],
    ["a map and a set", "({ m: new Map([['a', 1]]), s: new Set([1, 2]) })", { m: { a: 1 }, s: [1, 2] }],
    ["an error", "[new TypeError('late')]", [{ name: "TypeError", message: "late" }]],
    [
      "what Promise.allSettled gives",
      "await Promise.allSettled([tracker.fail({})])",
      [{ status: "rejected", reason: { name: "ToolError", code: "EXECUTION_FAILED", tool: "tracker.fail" } }],
    ],
    ["an object without parentheses", "const a = 1;\nconst b = 2\n{ a, b }", { a: 1, b: 2 }],
    ["an object after an early return", "if (false) return 1;\nconst a = 1\n// both\n{ a, b: 2 }", { a: 1, b: 2 }],
    ["an object with values", "{ a: 1, b: await greet() };", { a: 1, b: "hello" }],
    ["a block", "if (true)\n{ 5 }", 5],
    ["a block with a name", "const a = 1;\nif (a)\n{ a }", 1],
    ["a program in a code block", "```ts\nconst a: number = 5;\nreturn a;\n```\n", 5],
    ["parallel calls without a number", "await parallel([1, 2], async (n) => n * 2)", [2, 4]],
    ["a namespace by its own name", "await tools['my-tracker'].open()", "opened"],
    ["picked members", "pick([{ a: 1, b: 2 }], 'a')", [{ a: 1 }]],
    ["grouped members", "group([{ a: 1 }, { a: 2 }, { a: 1 }], 'a')", { 1: [{ a: 1 }, { a: 1 }], 2: [{ a: 2 }] }],
    ["dates", "dates.day(dates.add('2026-01-30T00:00:00Z', 2, 'days'))", "2026-02-01"],
    [
      "calls at once, in order",
      "(await parallel([1, 2, 3], 2, (page) => tracker.list_issues({ project: 'x', page }))).map((p) => p.next)",
      [2, 3, null],
    ],
    [
      "a caught error as a value",
      "try { await tracker.fail({}) } catch (error) { ({ m: error.message, c: error.code }) }",
      { m: expect.stringContaining("the disk is full"), c: "EXECUTION_FAILED" },
    ],
    ["a pause", "await sleep(1); 7", 7],
    ["a last call without await", "greet()", "hello"],
    ["a function called last", "async function main() { return await greet(); }\nmain()", "hello"],
  ])("has a value: %s", async (_what, code, value) => {
    expect(await run(code)).toMatchObject({ status: "success", value });
  });

  it.each([
    [
      "a syntax error with its line",
      "const a = 1;\nconst b = ;",
      { message: expect.stringMatching(/SyntaxError/), line: 2 },
    ],
    ["a thrown error with its line", "\n\nnull.x", { message: expect.stringMatching(/TypeError/), line: 3 }],
    [
      "the line of a failed call",
      "const a = 1;\nawait tracker.fail({});",
      { message: expect.stringMatching(/disk is full/), line: 2 },
    ],
    [
      "an unknown tool with the nearest name",
      "await tracker.list_isues({ project: 'x' })",
      { message: expect.stringMatching(/Did you mean "tracker.list_issues"/) },
    ],
    [
      "an unknown namespace with the nearest name",
      "await traker.list_issues({})",
      { message: expect.stringMatching(/Did you mean "tracker.list_issues"\?/) },
    ],
    [
      "a tool without its namespace",
      "await list_issues({ project: 'x' })",
      { message: expect.stringMatching(/'list_issues' is not defined\. Did you mean tracker\.list_issues\?/) },
    ],
    ["an object of other runtimes", "crypto.randomUUID()", { message: expect.stringMatching(/no other globals/) }],
    [
      "a class of other runtimes",
      "new Intl.NumberFormat()",
      { message: expect.stringMatching(/'Intl' is not defined/) },
    ],
    [
      "parallel without a function",
      "await parallel([greet()])",
      { message: expect.stringMatching(/parallel\(ids, 8, /) },
    ],
    [
      "arguments that are no object",
      "await tracker.close_issue(3)",
      { message: expect.stringMatching(/not an object: 3[\s\S]*declare function tracker.close_issue/) },
    ],
    ["the line of a program in a code block", "```js\nnull.x\n```", { message: expect.any(String), line: 2 }],
    [
      "a wrong argument with the declaration",
      "await tracker.list_issues({ page: 2 })",
      {
        message: expect.stringMatching(
          /project[\s\S]*declare function tracker.list_issues\(args: \{ project: string; page\?: number \}\)/,
        ),
      },
    ],
    [
      "a last call without await that fails, with its line",
      "const a = 1;\ntracker.fail({})",
      { message: expect.stringMatching(/disk is full/), line: 2 },
    ],
    [
      "an enum",
      "enum Size { small }\n1",
      { message: expect.stringMatching(/enum is not supported: only types are removed. Write it in plain JavaScript/) },
    ],
    ["modules", "const a = 1;\nimport fs from 'node:fs';", { message: expect.stringMatching(/no modules/), line: 2 }],
    [
      "a promise that nothing resolves",
      "await new Promise(() => {})",
      { message: expect.stringMatching(/nothing resolves/) },
    ],
  ])("fails with help: %s", async (_what, code, error) => {
    expect(await run(code)).toMatchObject({ status: "failure", error });
  });

  it("prints a call without await as such", async () => {
    const { logs } = await run("console.log(greet(), [tracker.list_issues({ project: 'x' })]); 1");
    expect(logs).toEqual([
      "(greet was called without await, so its result is missing. Write: await greet(…)) (tracker.list_issues was called without await, so its result is missing. Write: await tracker.list_issues(…))",
    ]);
  });

  it("says what had already run before it failed", async () => {
    const result = await run("await greet(); await tracker.fail({});");
    expect(result.calls.map(({ tool, status }) => [tool, status])).toEqual([
      ["default.greet", "success"],
      ["tracker.fail", "failure"],
    ]);
  });

  it("gets data that JSON cannot express as plain data", async () => {
    expect(await run("(await count_rows()).rows + '!'")).toMatchObject({ value: "10!" });
  });

  it("gets a large value cut, with a note on how to get the rest", async () => {
    const result = await run("Array.from({ length: 5000 }, (_, id) => ({ id, text: 'x'.repeat(50) }))");
    expect((result.value as unknown[]).length).toBeLessThan(1_500);
    expect(result.truncated).toMatch(/list of 5000 items.*slice\(/);
  });

  it("waits for an approval, and goes on when a person has answered", async () => {
    const code =
      "const { issues } = await tracker.list_issues({ project: 'x' });\nawait tracker.close_issue({ id: issues[0].id })";
    const before = reads;
    const waiting = await run(code);
    expect(waiting).toMatchObject({
      status: "pending_confirmation",
      confirmationId: expect.any(String),
    });
    expect(ran).toEqual([]);
    expect(await run(code)).toMatchObject({ runId: waiting.runId, status: "pending_confirmation" });
    await arsenal.approvals.approve(waiting.confirmationId ?? "", localOperator({ id: "dana" }));
    expect(await run(code)).toMatchObject({
      runId: waiting.runId,
      status: "success",
      value: { closed: 1 },
    });
    expect(ran).toEqual([1]);
    expect(reads).toBe(before + 1);
  });

  it("repeats its time and its random numbers when it goes on", async () => {
    const code =
      "const before = [Date.now(), Math.random(), new Date().toISOString()];\nconsole.log(before);\nawait sleep(5);\nconst after = Date.now();\nconsole.log(after);\nawait tracker.close_issue({ id: 2 });\n[before, after]";
    const waiting = await run(code);
    const { status } = waiting;
    expect(status).toBe("pending_confirmation");
    await arsenal.approvals.approve(waiting.confirmationId ?? "", localOperator({ id: "dana" }));
    const { value, logs } = await run(code);
    expect(logs).toEqual((value as unknown[]).map((each) => JSON.stringify(each)));
  });

  it("makes its calls as its caller, who may do no more in it than outside", async () => {
    const code = "try { await vault.wipe() } catch (error) { error.code }";
    expect((await run(code)).value).toBe("wiped");
    const stranger = createPrincipal({ id: "stranger" });
    const { error } = await arsenal.execute({
      toolName: "vault.wipe",
      arguments: {},
      principal: stranger,
    });
    expect(error?.code).toBeDefined();
    expect((await run(code, { principal: stranger })).value).toBe(error?.code);
    expect((await run("Object.keys(tools)", { principal: stranger })).value).not.toContain("vault");
  });

  it("gets the results of calls that ran at once in the same order when it goes on", async () => {
    const code = `
      const order = [];
      await Promise.all([20, 1, 10].map(async (ms) => { await sleep(ms); order.push(ms); await tracker.list_issues({ project: String(order.length) }); }));
      console.log(order);
      await tracker.close_issue({ id: 3 });
      order`;
    const waiting = await run(code);
    await arsenal.approvals.approve(waiting.confirmationId ?? "", localOperator({ id: "dana" }));
    const before = reads;
    const { value } = await run(code);
    expect(value).toEqual([1, 10, 20]);
    expect(reads).toBe(before);
  });

  it("is cancelled with its calls", async () => {
    const stop = new AbortController();
    const started = run("await sleep(60000)", { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect(await started).toMatchObject({ status: "cancelled" });
  });
});

it("leaves threads for the programs of other callers", async () => {
  const stop = new AbortController();
  const other = createPrincipal({ id: "other" });
  const held = Array.from({ length: 12 }, (_, n) => run(`await sleep(60000 + ${n})`, { signal: stop.signal }));
  expect(await run("1 + 1", { principal: other })).toMatchObject({ value: 2 });
  stop.abort();
  expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set(["cancelled"]));
});

it("takes turns on two threads while programs follow each other", async () => {
  await using fresh = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false } });
  // Arsenals of other tests in this process may start threads at the same time.
  const own = new AsyncLocalStorage<true>();
  let started = 0;
  const count = (): void => void (own.getStore() && started++);
  process.on("worker", count);
  await own.run(true, async () => {
    for (let n = 0; n < 16; n++) await fresh.runCode({ code: `${n}` });
  });
  process.off("worker", count);
  expect(started).toBe(2);
});
