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

/** One bar of each signal's contribution to a score, and the penalties as text. `scale` is the score that fills the bar. */
export function SignalBar({ tool, scale }: { readonly tool: ExplainedTool; readonly scale: number }) {
  const adds = tool.signals.filter(({ contribution }) => contribution > 0.0005);
  const takes = tool.signals.filter(({ contribution }) => contribution < -0.0005);
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
      <ul class="legend">
        {[...adds, ...takes].map((each) => (
          <li key={each.name} class={`signal-${each.name}`} title={`${each.value.toFixed(3)} × ${each.weight}`}>
            {TITLES[each.name]} <b>{each.contribution.toFixed(3)}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
