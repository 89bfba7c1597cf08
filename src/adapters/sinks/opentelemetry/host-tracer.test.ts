import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  type SpanStatus,
  trace,
} from "@opentelemetry/api";
import { afterEach, expect, it } from "vitest";
import { startCollector } from "../../../../test/doubles/otlp-collector.ts";
import { ToolArsenal } from "../../../arsenal.ts";

interface ExportedSpan {
  readonly name: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly traceId: string;
  readonly attributes: Attributes;
  status?: SpanStatus;
  ended?: boolean;
}

/** A tracer provider and a context manager of an application, registered as an SDK would. */
function registerHost(): {
  readonly spans: ExportedSpan[];
  readonly inSpan: <Result>(name: string, run: () => Result) => Result;
} {
  const spans: ExportedSpan[] = [];
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.apply(self as never, args)),
    bind: (_active, target) => target,
    enable: () => undefined as never,
    disable: () => undefined as never,
  });
  const startSpan = (name: string, options: SpanOptions = {}, within: Context = context.active()): Span => {
    const parent = trace.getSpanContext(within);
    const id = (spans.length + 1).toString(16).padStart(16, "0");
    const traceId = parent?.traceId ?? "a".repeat(32);
    const kept: ExportedSpan = { name, id, parent: parent?.spanId, traceId, attributes: options.attributes ?? {} };
    spans.push(kept);
    return {
      spanContext: () => ({ traceId, spanId: id, traceFlags: 1 }),
      setStatus: (status: SpanStatus) => void (kept.status = status),
      end: () => void (kept.ended = true),
    } as unknown as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
  const inSpan = <Result>(name: string, run: () => Result): Result =>
    context.with(trace.setSpan(ROOT_CONTEXT, startSpan(name)), run);
  return { spans, inSpan };
}

afterEach(() => {
  trace.disable();
  context.disable();
});

it("gives spans to the provider that the application registered, below the span that is active, and sends none itself", async () => {
  const { spans, inSpan } = registerHost();
  const collector = await startCollector();
  const arsenal = new ToolArsenal({
    telemetry: { type: "opentelemetry", otlp: { endpoint: collector.url } },
    embedder: { tier: "lexical" },
    environment: {},
  });
  arsenal.register({ name: "fail", description: "Fails." }, () => {
    throw new Error("out of paper");
  });
  await inSpan("my request", async () => {
    await arsenal.retrieve({ context: { query: "fail" } });
    await arsenal.execute({ toolName: "fail" });
  });
  await arsenal.close();
  const parentOf = (name: string): string | undefined => {
    const child = spans.find((span) => span.name === name);
    return spans.find(({ id }) => id === child?.parent)?.name;
  };
  expect(parentOf("execute_tool fail")).toBe("my request");
  expect(parentOf("attempt 1")).toBe("execute_tool fail");
  expect(parentOf("retrieval catalog")).toBe("my request");
  expect(parentOf("lexical")).toBe("retrieval catalog");
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(spans.slice(1).every(({ ended }) => ended === true)).toBe(true);
  expect(spans.find(({ name }) => name === "execute_tool fail")).toMatchObject({
    attributes: { "gen_ai.tool.name": "fail", "toolarsenal.call.attempts": 1 },
    status: { code: 2, message: "out of paper" },
  });
  expect(collector.spans()).toEqual([]);
  expect(collector.logs()).toHaveLength(1);
  await collector.close();
});
