import type { ExplainedTool } from "../../../src/retrieve/result.ts";

type Signal = ExplainedTool["signals"][number];

const TITLES: Readonly<Record<Signal["name"], string>> = {
  semantic: "meaning and words",
  intent: "intent",
  conversation: "conversation",
  health: "health",
  cost: "cost",
  learned: "learned",
  alreadyUsedPenalty: "already used",
  alreadyFailedPenalty: "already failed",
  deprecatedPenalty: "deprecated",
  destructivePenalty: "destructive, nearly tied",
};

/** The value of a signal without information. */
const NO_INFORMATION = 0.5;

/** Returns the signals that are equal for all of these tools and so do not explain their order. */
export function neutralSignals(tools: readonly ExplainedTool[]): ReadonlySet<Signal["name"]> {
  const [first, ...others] = tools;
  const isSame = ({ name, contribution, value }: Signal): boolean =>
    name !== "semantic" &&
    (others.length > 0 || value === NO_INFORMATION) &&
    others.every(({ signals }) => {
      const other = signals.find((each) => each.name === name);
      return other !== undefined && Math.abs(other.contribution - contribution) < 0.0005;
    });
  return new Set(first?.signals.filter(isSame).map(({ name }) => name));
}

/**
 * Shows each signal's contribution to a score as a bar, and the penalties as text. `scale` is the score of a full bar. Neutral signals are collapsed.
 */
export function SignalBar(props: {
  readonly tool: ExplainedTool;
  readonly scale: number;
  readonly neutral: ReadonlySet<Signal["name"]>;
}) {
  const { tool, scale, neutral } = props;
  const adds = tool.signals.filter(({ contribution }) => contribution > 0.0005);
  const takes = tool.signals.filter(({ contribution }) => contribution < -0.0005);
  const folded = [...adds, ...takes].filter(({ name }) => neutral.has(name));
  const foldedSum = folded.reduce((total, { contribution }) => total + contribution, 0);
  const said = [...adds, ...takes].map((each) => `${TITLES[each.name]} ${each.contribution.toFixed(3)}`).join(", ");
  return (
    <div class="signals">
      <svg class="bar-of-signals" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={said}>
        {adds.map((each, index) => {
          const from = adds.slice(0, index).reduce((sum, { contribution }) => sum + contribution, 0);
          const [x, width] = [(from / scale) * 100, (each.contribution / scale) * 100];
          return <rect key={each.name} class={`signal-${each.name}`} x={x} y="0" width={width} height="4" />;
        })}
      </svg>
      <Legend signals={[...adds, ...takes].filter(({ name }) => !neutral.has(name))} />
      {folded.length > 0 && (
        <details class="folded">
          <summary>
            {folded.length === 1 ? "1 neutral signal" : `${folded.length} neutral signals`}{" "}
            <b>{foldedSum.toFixed(3)}</b>
          </summary>
          <Legend signals={folded} />
        </details>
      )}
    </div>
  );
}

function Legend({ signals }: { readonly signals: readonly Signal[] }) {
  return (
    <ul class="legend">
      {signals.map((each) => (
        <li key={each.name} class={`signal-${each.name}`} title={`${each.value.toFixed(3)} × ${each.weight}`}>
          {TITLES[each.name]} <b>{each.contribution.toFixed(3)}</b>
        </li>
      ))}
    </ul>
  );
}
