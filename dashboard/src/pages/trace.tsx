import { useState } from "preact/hooks";
import type { TraceHistory } from "../../../src/client/index.ts";
import { showMoney } from "../../../src/observe/money.ts";
import { timeSteps } from "../../../src/observe/retrieval-steps.ts";
import { gateway } from "../gateway.ts";
import { liveCalls } from "../live.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Failure } from "../parts/failure.tsx";
import { Json } from "../parts/json.tsx";
import { type Arguments, useRecordedArguments } from "../parts/recorded-arguments.ts";
import { RunTool } from "../parts/run-tool.tsx";
import { Shown } from "../parts/shown.tsx";
import { neutralSignals, SignalBar } from "../parts/signal-bar.tsx";
import { Time } from "../parts/time.tsx";
import { type Bar, Waterfall } from "../parts/waterfall.tsx";
import { to } from "../router.ts";

type TracedCall = TraceHistory["calls"][number];
type Retrieval = TraceHistory["retrievals"][number];

/** Shows one trace: the times of its steps, the reasons for its tools, and a way to repeat its calls. */
export function Trace({ traceId }: { readonly traceId: string }) {
  const asked = useAsk(() => gateway().history.trace(traceId), [traceId]);
  const prices = useAsk(() => gateway().stats(), []);
  // Without a history, shows calls from the live events.
  const heard = liveCalls.value.filter((call) => call.traceId === traceId);
  const found = asked.answer ?? (heard.length > 0 ? { retrievals: [], calls: heard } : undefined);
  const recorded = useRecordedArguments(found?.calls ?? [], traceId);
  return (
    <>
      <p>
        <a href={to("calls")}>← Calls</a>
      </p>
      <h1>Trace</h1>
      <p>
        <code>{traceId}</code>
      </p>
      {found === undefined && asked.loading && <p class="dim">Loading…</p>}
      {found === undefined && asked.error !== undefined && <Failure error={asked.error} />}
      {found !== undefined && (
        <>
          <Waterfall bars={barsOf(found)} />
          {found.calls.map((call) => (
            <CallCard
              key={call.spanId}
              call={call}
              given={recorded.answer?.get(call.spanId)}
              currency={prices.answer?.currency}
            />
          ))}
          {found.retrievals.map((retrieval) => (
            <RetrievalCard key={retrieval.at} retrieval={retrieval} />
          ))}
        </>
      )}
    </>
  );
}

function barsOf({ retrievals, calls }: Pick<TraceHistory, "retrievals" | "calls">): readonly Bar[] {
  const searches = retrievals.map(({ at, durationMs, query = "request", steps }): Bar[] => {
    const from = at - durationMs;
    return [
      { title: `search: ${query}`, kind: "retrieval", from, durationMs },
      ...(steps === undefined ? [] : timeSteps(steps)).map(({ name, afterMs, durationMs: took }): Bar => ({
        title: name,
        kind: "stage",
        from: from + afterMs,
        durationMs: took,
      })),
    ];
  });
  const called = calls.map(({ at, toolId, queuedMs, latencyMs, startedAt, durationMs, steps = {} }): Bar[] => {
    const whole = durationMs ?? queuedMs + latencyMs;
    const { policy, queue, attempts = [] } = steps;
    return [
      { title: toolId, kind: "call", from: startedAt ?? at - whole, durationMs: whole },
      ...(policy
        ? [{ title: "policy", kind: "policy", from: policy.startedAt, durationMs: policy.durationMs } as const]
        : []),
      ...(queue
        ? [{ title: "queue", kind: "queue", from: queue.startedAt, durationMs: queue.durationMs } as const]
        : []),
      ...attempts.map(({ startedAt: from, durationMs: took, code }, index): Bar => ({
        title: `attempt ${index + 1}${code === undefined ? "" : `: ${code}`}`,
        kind: code === undefined ? "attempt" : "failed",
        from,
        durationMs: took,
      })),
    ];
  });
  return [...searches, ...called].sort(([a], [b]) => (a?.from ?? 0) - (b?.from ?? 0)).flat();
}

function CallCard(props: {
  readonly call: TracedCall;
  readonly given: Arguments | undefined;
  readonly currency: string | undefined;
}) {
  const { call, given, currency } = props;
  const { toolId, status, at, principal, tenant, attempts, message, cost } = call;
  const [replays, setReplays] = useState(false);
  return (
    <section class="card">
      <h2>
        <a href={to("catalog", [toolId])}>{toolId}</a> <Badge state={status} />
      </h2>
      <p class="dim">
        <Time at={at} />, by {principal}
        {tenant !== undefined && ` of ${tenant}`}, {attempts} {attempts === 1 ? "attempt" : "attempts"}
        {cost !== undefined && `, cost ${showMoney(cost, currency, undefined)}`}
      </p>
      {message !== undefined && <p class="bad">{message}</p>}
      {given !== undefined && <Json value={given} label={`Arguments of ${toolId}`} />}
      {replays ? (
        <Replay toolId={toolId} given={given} />
      ) : (
        <button type="button" class="quiet" onClick={() => setReplays(true)}>
          Replay
        </button>
      )}
    </section>
  );
}

/** Replaces a secret in recorded arguments. */
const REDACTED = "[redacted]";

function Replay({ toolId, given }: { readonly toolId: string; readonly given: Arguments | undefined }) {
  const dot = toolId.lastIndexOf(".");
  const asked = useAsk(async () => {
    return { tool: await gateway().getTool(toolId.slice(dot + 1), toolId.slice(0, dot)) };
  }, [toolId]);
  return (
    <>
      {given === undefined ? (
        <p class="dim">
          The arguments of this call were not recorded. Fill them in again. To record them from now on, set{" "}
          <code>audit.arguments</code> to <code>full</code>.
        </p>
      ) : (
        JSON.stringify(given).includes(REDACTED) && (
          <p class="warn">Secrets were removed from the arguments. Fill in those that say {REDACTED}.</p>
        )
      )}
      <Shown asked={asked}>
        {({ tool }) =>
          tool === undefined ? (
            <p>There is no tool "{toolId}" any more.</p>
          ) : (
            <RunTool
              tool={tool}
              given={given ?? {}}
              asksFirst={!(tool.annotations.readOnly === true && tool.annotations.confirmed)}
            />
          )
        }
      </Shown>
    </>
  );
}

function RetrievalCard({ retrieval }: { readonly retrieval: Retrieval }) {
  const { query, explanation, confidence, nothingFits, tier, candidateCount } = retrieval;
  const tools = [...explanation.chosen, ...explanation.leftOut];
  const scale = Math.max(0.001, ...tools.map(({ score }) => score));
  const neutral = neutralSignals(tools);
  return (
    <section class="card">
      <h2>Search: {query ?? "(no text kept)"}</h2>
      <p class="dim">
        {nothingFits ? "Nothing fits" : "Confidence"} {confidence.toFixed(2)}, {candidateCount} candidates, {tier}
      </p>
      <ol class="ranking">
        {tools.map((tool) => (
          <li key={tool.toolId} class={explanation.chosen.includes(tool) ? "" : "missed"}>
            <div class="ranked">
              <a href={to("catalog", [tool.toolId])}>{tool.toolId}</a>
              <span class="score">
                {tool.score.toFixed(3)} {tool.reason}
              </span>
            </div>
            <SignalBar tool={tool} scale={scale} neutral={neutral} />
          </li>
        ))}
      </ol>
    </section>
  );
}
