import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { directExecutor } from "../adapters/executors/direct.ts";
import { createRedaction } from "../adapters/policies/rules/redaction.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createAegis } from "../guard/aegis.ts";
import { createCallAudit } from "../guard/audit/call-audit.ts";
import { createIdempotency } from "../guard/idempotency.ts";
import type { Obligations } from "../guard/policy.port.ts";
import { localOperator } from "../guard/principal.ts";
import { systemClock } from "../observe/clock.ts";
import { createHealth } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import type { ToolSource } from "../tool/tool.ts";
import type { ToolCall } from "./call.ts";
import { createEngine, type Engine } from "./engine.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";

interface Options {
  readonly obligations?: Obligations;
  readonly source?: ToolSource;
  /** True if no record of a call can be kept. */
  readonly auditFails?: boolean;
}

/** An engine over one tool of an MCP server. */
function engineOf(handler: Handler, { obligations = {}, source = "mcp", auditFails = false }: Options = {}): Engine {
  const clock = systemClock;
  const shared = memoryState({ clock });
  const state = shared.documents;
  const emit = (): void => {};
  const log = memoryAudit({ clock });
  const append: typeof log.append = (record) =>
    auditFails ? Promise.reject(new Error("No space left")) : log.append(record);
  const tool = defineTool({ name: "t", description: "Does it.", parameters: { type: "object" }, source });
  return createEngine({
    find: () => ({ tool, handler }),
    aegis: createAegis({
      policy: { sees: () => true, decide: () => ({ effect: "allow", rule: "shown", obligations }) },
      state,
      clock,
      emit,
      settings: { maxRequestsPerMinute: 1_000, confirmationTimeoutS: 600, selfApproval: "never" },
    }),
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    audit: createCallAudit({ log: { ...log, append }, emit, clock, strict: true }),
    idempotency: createIdempotency(shared, clock),
    health: createHealth({ clock, emit }),
    ensembleSettings: () => ({}),
    emit,
    clock,
    random: () => 0,
    localPrincipal: localOperator({ id: "caller" }),
    settings: DEFAULT_ENGINE_SETTINGS,
  });
}

const CALL: ToolCall = { toolName: "t", request: { source: "mcp" } };
const ANSWER = { content: [{ type: "text", text: "card 4111" }], total: 5 };
/** Answers the client's request with this. */
const answering =
  (answer: unknown): Handler =>
  (_args, context) => {
    context.answersRequest?.();
    return answer;
  };
/** Answers the client's request with an error, told in these words. */
const failing =
  (cause: unknown): Handler =>
  (_args, context) => {
    context.answersRequest?.();
    throw new ArsenalError("EXECUTION_FAILED", "card 4111", { answered: true, cause });
  };
const redact = (...texts: readonly string[]): Options => ({ obligations: { redact: texts.map(createRedaction) } });

describe("the answer that a result carries", () => {
  it("is the server's own, result or error", async () => {
    expect((await engineOf(answering(ANSWER)).execute(CALL)).answer).toEqual({ result: ANSWER });
    const reported = { ...ANSWER, isError: true };
    expect((await engineOf(failing(reported)).execute(CALL)).answer).toEqual({ result: reported });
    const refused = Object.assign(new Error("No."), { code: -32_050, data: { zebra: 1 } });
    const { answer } = await engineOf(failing(refused)).execute(CALL);
    expect(answer).toEqual({ error: { code: -32_050, message: "No.", data: { zebra: 1 } } });
  });

  it("is there only for a handler that says it answers the request", async () => {
    expect(await engineOf(() => ANSWER).execute(CALL)).not.toHaveProperty("answer");
    expect(await engineOf(answering(ANSWER)).execute({ toolName: "t" })).not.toHaveProperty("answer");
  });

  it("is none of another source's tool, whose handler does not see the request", async () => {
    let seen: unknown;
    const handler: Handler = (args, context) => {
      seen = context.request;
      return answering(ANSWER)(args, context);
    };
    expect(await engineOf(handler, { source: "function" }).execute(CALL)).not.toHaveProperty("answer");
    expect(seen).toBeUndefined();
  });

  it("is that of the last attempt alone", async () => {
    const handler: Handler = (_args, context) => {
      if (context.attempt === 2) throw new ArsenalError("TRANSPORT_FAILED", "gone");
      context.answersRequest?.();
      throw new ArsenalError("EXECUTION_FAILED", "not yet", { answered: true, beforeSend: true, cause: ANSWER });
    };
    const result = await engineOf(handler).execute({ ...CALL, retryCount: 2 });
    expect(result.attempts).toBe(2);
    expect(result).not.toHaveProperty("answer");
  });
});

describe("an answer that the guard does not let pass as it is", () => {
  it("is the redacted one, if that still has its form", async () => {
    const { result, answer } = await engineOf(answering(ANSWER), redact("/[0-9]{4}/")).execute(CALL);
    expect(answer).toEqual({ result: { content: [{ type: "text", text: "card [redacted]" }], total: 5 } });
    expect(answer).toEqual({ result });
  });

  it.each([
    ["lost its content", answering(ANSWER), redact("content")],
    ["is an error that a rule redacts", failing({ ...ANSWER, isError: true }), redact("/[0-9]{4}/")],
    ["is too large", answering(ANSWER), { obligations: { maxResultBytes: 10 } }],
    ["is an error that is too large", failing(ANSWER), { obligations: { maxResultBytes: 20 } }],
    ["could not be recorded", answering(ANSWER), { auditFails: true }],
  ])("is gone if it %s", async (_why, handler, options: Options) => {
    const result = await engineOf(handler, options).execute(CALL);
    expect(result).not.toHaveProperty("answer");
    expect(JSON.stringify(result)).not.toContain("card 4111");
  });

  it("is gone from a result that is given again, which other rules may hold for by then", async () => {
    const engine = engineOf(answering(ANSWER));
    const keyed = { ...CALL, idempotencyKey: "k" };
    expect((await engine.execute(keyed)).answer).toEqual({ result: ANSWER });
    const again = await engine.execute(keyed);
    expect(again).toMatchObject({ replayed: true, result: ANSWER });
    expect(again).not.toHaveProperty("answer");
  });
});
