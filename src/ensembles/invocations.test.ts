import { afterEach, describe, expect, it } from "vitest";
import { answeredIds, ANSWERS } from "../../test/transcode/sample-answers.ts";
import { type DialectMessages, DIALECT_NAMES } from "../adapters/dialects/built-in.ts";
import { anthropicDialect } from "../adapters/dialects/index.ts";
import { ToolArsenal, type ToolArsenalOptions } from "../index.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { ERROR_CODES, type ErrorCode } from "../errors/codes.ts";
import { localOperator } from "../guard/principal.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createEnsemble, createInvoker } from "./create-ensemble.ts";
import type { Ensemble } from "./ensemble.ts";
import { createInvocationsProcessor } from "./invocations.ts";
import { errorCategory, type Invocation } from "./records.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function createArsenal(options?: ToolArsenalOptions): ToolArsenal {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...options });
  closing.push(() => arsenal.close());
  return arsenal;
}

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;

/** An ensemble with `read_file`, `fail` and `lost`; what it reads says where it was read. */
async function filesIn(name: string, arsenal: ToolArsenal): Promise<Ensemble> {
  const invokers = [
    createInvoker({
      name: "read_file",
      description: "Reads the contents of a file.",
      argumentsSchema: path,
      annotations: { readOnly: true },
      invocable: (_context, { path: file }) => ({ from: name, file, at: new Date(0) }),
    }),
    createInvoker({
      name: "fail",
      description: "Fails every time.",
      invocable: () => {
        throw new Error("disk full");
      },
    }),
    createInvoker({
      name: "lost",
      description: "Cannot reach its server.",
      invocable: () => {
        throw new ArsenalError("TRANSPORT_FAILED", "connection refused", { beforeSend: true });
      },
    }),
  ];
  const ensemble = createEnsemble({ name, invokers, configuration: { maxRetries: 1 } }, { arsenal });
  await ensemble.connect();
  return ensemble;
}

const invocation = (name: string, args: object = {}, more: Partial<Invocation> = {}): Invocation => ({
  id: `call_${name}`,
  name,
  arguments: args as Invocation["arguments"],
  timestamp: "2026-01-01T00:00:00.000Z",
  ...more,
});

describe("prepareTools", () => {
  it("writes the tools of several ensembles in the provider's shape, apart where their names are the same [001-processor-prepare]", async () => {
    const arsenal = createArsenal();
    const ensembles = [await filesIn("home", arsenal), await filesIn("work", arsenal)];
    const names = ["home-read_file", "home-fail", "home-lost", "work-read_file", "work-fail", "work-lost"];

    const anthropic = await createInvocationsProcessor({ dialect: "anthropic" });
    const tools = await anthropic.prepareTools(ensembles);
    expect(tools.map(({ name }) => name)).toEqual(names);
    expect(tools[0]).toEqual({
      name: "home-read_file",
      description: "Reads the contents of a file.",
      input_schema: path,
    });

    const openai = await createInvocationsProcessor({ dialect: "openai" });
    const functions = await openai.prepareTools(ensembles, { strict: true });
    expect(functions.map(({ function: { name } }) => name)).toEqual(names);
    expect(functions[0]).toMatchObject({ type: "function", function: { strict: true } });
  });

  it("takes a dialect of your own", async () => {
    const ensemble = await filesIn("home", createArsenal());
    const processor = await createInvocationsProcessor({ dialect: { ...anthropicDialect(), name: "mine" } });
    expect((await processor.prepareTools([ensemble]))[0]?.input_schema).toEqual(path);
    await expect(createInvocationsProcessor({ dialect: "antropic" as "anthropic" })).rejects.toThrow("Use anthropic");
  });

  it("leaves out what the caller may not see, and refuses the same ensemble twice", async () => {
    const arsenal = createArsenal({ security: { deny: ["home.fail"] } });
    const ensemble = await filesIn("home", arsenal);
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const tools = await processor.prepareTools([ensemble], { principal: localOperator({ id: "ann" }) });
    expect(tools.map(({ name }) => name)).toEqual(["home-read_file", "home-lost"]);
    await expect(processor.prepareTools([ensemble, ensemble])).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe.each(DIALECT_NAMES)("a turn in the dialect %s", (dialect: keyof DialectMessages) => {
  it("goes from the model's message to records and back, also after the records were stored as JSON", async () => {
    const arsenal = createArsenal();
    const ensembles = [await filesIn("home", arsenal), await filesIn("work", arsenal)];
    const clock = createManualClock(1_000);
    const processor = await createInvocationsProcessor({ dialect, clock });
    const calls = [
      { id: "call_a", name: "work-read_file", arguments: { path: "a.txt" } },
      { id: "call_b", name: "home-read_file", arguments: { path: "b.txt" } },
      { id: "call_c", name: "home-fail", arguments: {} },
    ];

    const invocations = processor.normalizeInvocations(ANSWERS[dialect](calls));
    expect(invocations).toMatchObject(
      calls.map(({ name, arguments: args }) => ({ name, arguments: args, timestamp: "1970-01-01T00:00:01.000Z" })),
    );
    expect(new Set(invocations.map(({ id }) => id)).size).toBe(3);
    const [again] = processor.normalizeInvocations(ANSWERS[dialect](calls));
    expect(again?.id === invocations[0]?.id).toBe(again?.idMadeUp !== true);
    const stored = JSON.parse(JSON.stringify(invocations)) as Invocation[];
    expect(stored).toEqual(invocations);

    const results = await processor.executeInvocations(stored, ensembles);
    expect(results.map(({ content }) => content)).toEqual([
      { from: "work", file: "a.txt", at: "1970-01-01T00:00:00.000Z" },
      { from: "home", file: "b.txt", at: "1970-01-01T00:00:00.000Z" },
      expect.stringContaining("disk full"),
    ]);
    expect(results[2]?.error).toEqual({ code: "EXECUTION_FAILED", category: "execution", message: "disk full" });

    const written = processor.nativizeResults(results);
    const restored = processor.nativizeResults(JSON.parse(JSON.stringify(results)) as typeof results);
    expect(restored).toEqual(written);
    const text = JSON.stringify(written);
    for (const said of ["a.txt", "b.txt", "disk full"]) expect(text).toContain(said);
    const ids = invocations.map(({ id, idMadeUp }) => (idMadeUp === true ? "" : id));
    if (dialect !== "mcp" && dialect !== "openapi") expect(answeredIds(written)).toEqual(ids);
  });
});

describe("a conversation", () => {
  const call = { id: "call_abc123", name: "home-read_file", arguments: { path: "notes.txt" } };
  it.each([
    ["anthropic", { role: "assistant", content: [{ type: "text", text: "They say hello." }] }],
    ["openai", { choices: [{ message: { role: "assistant", content: "They say hello." } }] }],
  ] as const)(
    "goes from question to calls, results and answer for %s [001-flow-conversation]",
    async (dialect, last) => {
      const ensembles = [await filesIn("home", createArsenal())];
      const processor = await createInvocationsProcessor({ dialect });
      /** Answers as a provider's API does: with calls until the last result is there. */
      const converse = (messages: readonly object[], tools: readonly object[]): object => {
        expect(JSON.stringify(tools)).toContain("home-read_file");
        return answeredIds(messages).includes(call.id) ? last : (ANSWERS[dialect]([call]) as object);
      };

      const tools = await processor.prepareTools(ensembles);
      const messages: object[] = [{ role: "user", content: "What do my notes say?" }];
      const records: object[] = [];
      for (;;) {
        const message = converse(messages, tools);
        messages.push(message);
        const invocations = processor.normalizeInvocations(message);
        if (invocations.length === 0) break;
        const results = await processor.executeInvocations(invocations, ensembles);
        records.push(...invocations, ...results);
        messages.push(...processor.nativizeResults(results));
      }
      expect(messages).toHaveLength(4);
      expect(messages.at(-1)).toBe(last);
      expect(records).toMatchObject([call, { invocationId: "call_abc123", content: { file: "notes.txt" } }]);
    },
  );
});

describe("executeInvocations", () => {
  it("answers a call that cannot be read, or names no tool of the ensembles, and runs the others", async () => {
    const arsenal = createArsenal();
    arsenal.register({ name: "secret", description: "Not in any ensemble." }, () => "secret");
    const home = await filesIn("home", arsenal);
    await filesIn("work", arsenal);
    const clock = createManualClock(0);
    const processor = await createInvocationsProcessor({ dialect: "openai", clock });
    const broken = { id: "1", type: "function", function: { name: "home-read_file", arguments: '{"path": "a' } };

    const results = await processor.executeInvocations(
      [
        ...processor.normalizeInvocations({ tool_calls: [broken] }),
        invocation("work-read_file", { path: "a.txt" }),
        invocation("secret"),
        invocation("home-read_fil", { path: "a.txt" }),
        invocation("home-read_file", { file: "a.txt" }),
        invocation("home-read_file", { path: "a.txt" }),
      ],
      [home],
    );
    expect(results.map(({ error }) => [error?.code, error?.category])).toEqual([
      ["ARGUMENTS_INVALID", "validation"],
      ["TOOL_NOT_FOUND", "validation"],
      ["TOOL_NOT_FOUND", "validation"],
      ["TOOL_NOT_FOUND", "validation"],
      ["ARGUMENTS_INVALID", "validation"],
      [undefined, undefined],
    ]);
    expect(results[0]).toMatchObject({
      content: expect.stringContaining("not valid JSON"),
      timestamp: "1970-01-01T00:00:00.000Z",
    });
    expect(results[3]?.content).toBe('There is no tool named "home-read_fil". Did you mean "home-read_file"?');
    expect(results[5]).toMatchObject({ content: { from: "home" }, readOnly: true });
  });

  it("takes a bare name, as long as only one of the ensembles has it", async () => {
    const arsenal = createArsenal();
    const [home, work] = [await filesIn("home", arsenal), await filesIn("work", arsenal)];
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const calls = [invocation("read_file", { path: "a.txt" }), invocation("work.read_file", { path: "a.txt" })];
    const content = async (ensembles: readonly Ensemble[]) =>
      (await processor.executeInvocations(calls, ensembles)).map((result) => result.error?.code ?? result.content);
    expect(await content([home])).toMatchObject([{ from: "home" }, "TOOL_NOT_FOUND"]);
    expect(await content([home, work])).toMatchObject(["TOOL_NOT_FOUND", { from: "work" }]);
  });

  it("names no tool that the caller may not see", async () => {
    const arsenal = createArsenal({ security: { deny: ["home.fail"] } });
    const home = await filesIn("home", arsenal);
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const results = await processor.executeInvocations([invocation("home-fail"), invocation("home-fai")], [home]);
    expect(JSON.stringify(results)).not.toContain("Did you mean");
    expect(results.map(({ error }) => error?.code)).toEqual(["TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]);
  });

  it("keeps the id of the approval that a call waits for, and runs it once it is given", async () => {
    const arsenal = createArsenal({ security: { requireConfirmation: ["home.read_file"] } });
    const home = await filesIn("home", arsenal);
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const call = invocation("home-read_file", { path: "a.txt" });
    const options = { principal: localOperator({ id: "ann" }), onFailure: "throw" as const };
    const [waiting] = await processor.executeInvocations([call], [home], options);
    expect(waiting).toMatchObject({ error: { code: "CONFIRMATION_REQUIRED", category: "permission" } });
    await arsenal.approvals.approve(waiting?.confirmationId ?? "", localOperator({ id: "boss" }));
    expect(await processor.executeInvocations([call], [home], options)).toMatchObject([{ content: { from: "home" } }]);
  });

  it("fails fast if asked to: the first failure cancels the others and is thrown", async () => {
    const arsenal = createArsenal();
    const home = await filesIn("home", arsenal);
    let reason: unknown;
    const wait = createInvoker({
      name: "wait",
      description: "Waits until it is cancelled.",
      invocable: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => ((reason = signal.reason), reject(new Error("stopped"))));
        }),
    });
    const slow = createEnsemble({ name: "slow", invokers: [wait] }, { arsenal });
    await slow.connect();
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const calls = [invocation("slow-wait"), invocation("home-lost")];
    await expect(processor.executeInvocations(calls, [home, slow], { onFailure: "throw" })).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: "The call of home-lost failed: connection refused",
      cause: { invocationId: "call_home-lost", error: { category: "network" } },
    });
    expect(reason).toBeDefined();
    const wrong = [invocation("home-read_file"), invocation("nobody")];
    expect(await processor.executeInvocations(wrong, [home], { onFailure: "throw" })).toHaveLength(2);
  });

  it("returns a result for every call, also in an arsenal that throws failures", async () => {
    const arsenal = createArsenal({ execution: { onFailure: "throw" } });
    const home = await filesIn("home", arsenal);
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const results = await processor.executeInvocations([invocation("home-fail"), invocation("home-lost")], [home]);
    expect(results.map(({ error }) => error?.category)).toEqual(["execution", "network"]);
  });
});

it("gives every error code one of the five categories", () => {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const categories = new Set(codes.map(errorCategory));
  expect([...categories].toSorted()).toEqual(["execution", "network", "permission", "timeout", "validation"]);
  const of = { ARGUMENTS_INVALID: "validation", EXECUTION_FAILED: "execution", TIMEOUT: "timeout" } as const;
  const more = { PERMISSION_DENIED: "permission", TRANSPORT_FAILED: "network" } as const;
  for (const [code, category] of Object.entries({ ...of, ...more }))
    expect(errorCategory(code as ErrorCode)).toBe(category);
});

it("prepares no tools of an ensemble that is not connected: it says to connect it", async () => {
  const processor = await createInvocationsProcessor({ dialect: "anthropic" });
  const ensemble = createEnsemble({ name: "weather", invokers: [] });
  await expect(processor.prepareTools([ensemble])).rejects.toThrow(
    'The ensemble "weather" is not connected. Call its connect() first.',
  );
  await ensemble.connect();
  expect(await processor.prepareTools([ensemble])).toEqual([]);
  await ensemble.disconnect();
});
