import { useState } from "preact/hooks";
import type { HistoryPage, RetrievalResult, Tool } from "../../../src/client/index.ts";
import type { ExplainedTool } from "../../../src/retrieve/result.ts";
import { toolTokens } from "../../../src/tool/estimate-tokens.ts";
import { gateway, may } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { Definition } from "../parts/definition.tsx";
import { Failure } from "../parts/failure.tsx";
import { useOneColumn } from "../parts/narrow.ts";
import { RunTool } from "../parts/run-tool.tsx";
import { neutralSignals, SignalBar } from "../parts/signal-bar.tsx";
import { go, place, to } from "../router.ts";

/** Shows which tools a model would get for a request, and why. */
export function Playground() {
  const query = place.value.query.get("q") ?? "";
  const [chosen, setChosen] = useState<string>();
  const { answer, error, loading } = useAsk(
    async (signal) =>
      query.trim() === "" ? undefined : gateway().retrieve({ context: { query }, limit: 5, explain: true, signal }),
    [query],
    { delayMs: 120 },
  );
  return (
    <>
      <h1>Playground</h1>
      <label class="ask">
        What does the user ask for?
        <input
          type="search"
          value={query}
          placeholder="Refund the last order of a customer"
          autofocus
          onInput={({ currentTarget }) => go(to("playground", [], { q: currentTarget.value }), { replace: true })}
        />
      </label>
      {error !== undefined && <Failure error={error} />}
      <div aria-live="polite" aria-busy={loading}>
        {answer && <Ranking found={answer} chosen={chosen} onChoose={setChosen} />}
      </div>
      {query.trim() === "" && <Suggestions />}
    </>
  );
}

function Suggestions() {
  const { answer = [] } = useAsk(recentRequests, []);
  return (
    <>
      <p class="dim">The tools that a model would get appear as you type, each with the reason for its place.</p>
      {answer.length > 0 && (
        <section>
          <h2>Asked recently</h2>
          <ul>
            {answer.map((text) => (
              <li key={text}>
                <a href={to("playground", [], { q: text })}>{text}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Returns the latest requests without duplicates. Empty without a history, or if the user may not see it. */
async function recentRequests(): Promise<readonly string[]> {
  if (!may("listHistory")) return [];
  const { records } = await gateway()
    .history.list({ limit: 100 })
    .catch((): HistoryPage => ({ records: [] }));
  const asked = records.flatMap((record) => (record.kind === "retrieval" && record.query ? [record.query] : []));
  return [...new Set(asked)].slice(0, 5);
}

function Ranking(props: {
  readonly found: RetrievalResult;
  readonly chosen: string | undefined;
  onChoose(id: string | undefined): void;
}) {
  const { found, chosen, onChoose } = props;
  const inPlace = useOneColumn();
  const explained = found.explanation;
  const known = new Map([...found.tools, ...(found.nearest ?? [])].map(({ tool }) => [tool.id, tool]));
  const all = [...(explained?.chosen ?? []), ...(explained?.leftOut ?? [])];
  const scale = Math.max(0.01, ...all.map(({ score }) => score));
  // With one column, a tool opens where it was tapped, and no tool opens by itself.
  const open = known.get(chosen ?? "") ?? (inPlace ? undefined : found.tools[0]?.tool);
  const list = { scale, known, open, inPlace, onChoose, neutral: neutralSignals(all) };
  return (
    <div class="columns">
      <section>
        <p>
          {found.nothingFits ? <b class="bad">Nothing fits.</b> : <b class="good">{found.tools.length} tools</b>}{" "}
          <span class="dim">
            confidence {found.confidence.toFixed(2)}, intent {found.intent}, ranked by {found.tier},{" "}
            {found.candidateCount} scored in {found.totalTimeMs.toFixed(1)} ms
          </span>
        </p>
        <Tokens tools={found.tools.map(({ tool }) => tool)} />
        <ol class="ranking">
          {(explained?.chosen ?? []).map((each) => (
            <Ranked key={each.toolId} each={each} {...list} />
          ))}
        </ol>
        {explained && explained.leftOut.length > 0 && (
          <>
            <h2>Narrowly missed</h2>
            <ol class="ranking missed">
              {explained.leftOut.map((each) => (
                <Ranked key={each.toolId} each={each} {...list} />
              ))}
            </ol>
          </>
        )}
      </section>
      {open && !inPlace && <OpenTool key={open.id} tool={open} />}
    </div>
  );
}

/** A tool with a form to run it. */
function OpenTool({ tool }: { readonly tool: Tool }) {
  return (
    <section class="card" aria-label={`Tool ${tool.id}`}>
      <h2>
        <code>{tool.id}</code>
      </h2>
      <p>{tool.description}</p>
      <RunTool tool={tool} />
      <Definition toolId={tool.id} />
    </section>
  );
}

/** The tokens of the found tools, compared with the tokens of every tool. */
function Tokens({ tools }: { readonly tools: readonly Tool[] }) {
  const { answer } = useAsk(async () => (may("getStats") ? (await gateway().stats()).tokens.catalog : undefined), []);
  if (answer === undefined || answer === 0) return null;
  const sent = tools.reduce((sum, tool) => sum + toolTokens(tool), 0);
  const share = Math.min(100, (sent / answer) * 100);
  return (
    <p class="tokens">
      <b>{sent.toLocaleString()} tokens</b>{" "}
      <span class="dim">
        instead of {answer.toLocaleString()} for every tool ({share.toFixed(share < 10 ? 1 : 0)} %)
      </span>
      <meter min={0} max={answer} value={Math.min(sent, answer)} aria-label="Share of the tokens of every tool" />
    </p>
  );
}

const REASONS: Readonly<Record<ExplainedTool["reason"], string>> = {
  chosen: "",
  dependency: "needed by another tool",
  limit: "the limit was reached",
  threshold: "below the score threshold",
  confidence: "too unlikely to serve the request",
  diversity: "too similar to a better tool",
  conflict: "conflicts with a better tool",
};

function Ranked(props: {
  readonly each: ExplainedTool;
  readonly scale: number;
  readonly known: ReadonlyMap<string, Tool>;
  readonly open: Tool | undefined;
  /** Whether a tool opens and closes below its name. */
  readonly inPlace: boolean;
  readonly neutral: ReturnType<typeof neutralSignals>;
  onChoose(id: string | undefined): void;
}) {
  const { each, scale, known, open, inPlace, neutral, onChoose } = props;
  const { toolId, score, reason, because, matchedTerms } = each;
  const isOpen = open?.id === toolId;
  const state = inPlace ? { "aria-expanded": isOpen } : { "aria-pressed": isOpen };
  return (
    <li>
      <div class="ranked">
        {known.has(toolId) ? (
          <button
            class="link"
            type="button"
            {...state}
            onClick={() => onChoose(inPlace && isOpen ? undefined : toolId)}
          >
            {toolId}
          </button>
        ) : (
          <a href={to("catalog", [toolId])}>{toolId}</a>
        )}
        <b class="score">{score.toFixed(3)}</b>
      </div>
      <div class="clipped">{known.get(toolId)?.description}</div>
      <SignalBar tool={each} scale={scale} neutral={neutral} />
      <small class="dim">
        {REASONS[reason]}
        {because !== undefined && ` (${because})`}
        {reason !== "chosen" && matchedTerms.length > 0 && "; "}
        {matchedTerms.length > 0 && `words: ${matchedTerms.map(({ term }) => term).join(", ")}`}
      </small>
      {inPlace && isOpen && <OpenTool tool={open} />}
    </li>
  );
}
