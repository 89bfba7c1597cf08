import { memoryAudit, type MemoryAudit } from "../../src/adapters/audit/memory.ts";
import { directExecutor } from "../../src/adapters/executors/direct.ts";
import { memoryState } from "../../src/adapters/state/memory.ts";
import { jsonSchemaValidator } from "../../src/adapters/validators/json-schema/json-schema.ts";
import { createEngine, type Engine } from "../../src/execute/engine.ts";
import { DEFAULT_ENGINE_SETTINGS } from "./engine-settings.ts";
import { type Aegis, createAegis } from "../../src/guard/aegis.ts";
import { createCallAudit, withAudit } from "../../src/guard/audit/call-audit.ts";
import type { AuditLog, AuditRecord } from "../../src/guard/audit.port.ts";
import { createIdempotency } from "../../src/guard/idempotency.ts";
import type { Policy } from "../../src/guard/policy.port.ts";
import { localOperator, type Principal } from "../../src/guard/principal.ts";
import type { Emit } from "../../src/observe/events.ts";
import { createHealth } from "../../src/observe/health.ts";
import { createLocalLimits } from "../../src/state/local-limits.ts";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { Handler } from "../../src/tool/handler.ts";

const caller: Principal = localOperator({ id: "caller", tenant: "acme", local: false });
export const approver: Principal = localOperator({ id: "boss", local: false });

/** Hides what is called hidden, refuses what is called denied, has what is called risky approved. */
const policy: Policy = {
  sees: ({ name }) => name !== "hidden",
  decide({ tool }) {
    if (tool.name === "denied") return { effect: "deny", rule: "no-denied", reason: "No." };
    if (tool.name === "risky") return { effect: "confirm", rule: "ask-first", reason: "Ask." };
    return { effect: "allow" };
  },
};

/** An engine with an audit log in memory, and what tests look at. */
export interface AuditedEngine {
  readonly engine: Engine;
  readonly aegis: Aegis;
  readonly clock: ManualClock;
  readonly log: MemoryAudit;
  readonly events: { readonly name: string; readonly data: unknown }[];
  /** From now on the policy refuses the tool. */
  refuse(tool: string): void;
  runs(): number;
  calls(): readonly Record<string, unknown>[];
}

export interface AuditedEngineOptions {
  readonly strict?: boolean;
  readonly handler?: Handler;
  readonly arguments?: "shape" | "full";
  readonly redact?: (text: string) => string;
  /** Whether results are kept by their keys. Default true. */
  readonly keepsKeys?: boolean;
  /** Which records the log does not take. */
  readonly fails?: (record: AuditRecord) => boolean;
}

/** An engine over the tools works, hidden, denied, risky, limited (one call a minute) and reads (read-only). */
export function auditedEngine(options: AuditedEngineOptions = {}): AuditedEngine {
  const { strict = true, keepsKeys = true, handler = () => "done", fails = () => false } = options;
  const clock = createManualClock(1_000);
  const events: { name: string; data: unknown }[] = [];
  const emit: Emit = (name, data) => void events.push({ name, data });
  const log = memoryAudit({ clock });
  const failing: AuditLog = {
    ...log,
    append: (record) => (fails(record) ? Promise.reject(new Error("No space left.")) : log.append(record)),
  };
  const audit = createCallAudit({
    log: failing,
    emit,
    clock,
    strict,
    ...(options.arguments && { arguments: options.arguments }),
    ...(options.redact && { redact: options.redact }),
  });
  const refused = new Set<string>();
  const changing: Policy = {
    ...policy,
    decide: (request) =>
      refused.has(request.tool.name) ? { effect: "deny", rule: "revoked", reason: "No more." } : policy.decide(request),
  };
  const shared = memoryState({ clock });
  const state = shared.documents;
  const aegis = createAegis({
    policy: changing,
    state,
    clock,
    emit: withAudit(emit, audit),
    settings: { maxRequestsPerMinute: 100_000, confirmationTimeoutS: 600, selfApproval: "never" },
  });
  let runs = 0;
  const tools = ["works", "hidden", "denied", "risky", "limited", "reads"].map((name) =>
    defineTool({
      name,
      description: "Does something for somebody.",
      parameters: { type: "object", properties: { n: { type: "number" } } },
      createdAt: 0,
      ...(name === "reads" && { annotations: { readOnly: true, confirmed: true } }),
      ...(name === "limited" && { cost: { rateLimit: 1 } }),
    }),
  );
  const engine = createEngine({
    find: (name, { sees = () => true } = {}) => {
      const tool = tools.find((candidate) => candidate.name === name && sees(candidate));
      if (tool === undefined) return undefined;
      return { tool, handler: (args, context) => (runs++, handler(args, context)) };
    },
    aegis,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    audit,
    ...(keepsKeys && { idempotency: createIdempotency(shared, clock) }),
    health: createHealth({ clock, emit }),
    ensembleSettings: () => ({}),
    emit,
    clock,
    localPrincipal: caller,
    settings: { ...DEFAULT_ENGINE_SETTINGS, maxRetries: 1 },
  });
  return {
    engine,
    aegis,
    clock,
    log,
    events,
    refuse: (tool) => void refused.add(tool),
    runs: () => runs,
    calls: () => log.lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "call"),
  };
}
