import type { WorkflowStepView } from "../../../src/client/index.ts";
import { columnsOf, type StepState } from "./step-state.ts";

const WIDTH = 190;
const HEIGHT = 52;
const GAP = { x: 44, y: 18 };
const LONGEST = 25;

/** Draws the steps of a workflow as boxes, from left to right, with a line from each step to the steps that need it. */
export function Graph({
  steps,
  states,
  label,
}: {
  readonly steps: readonly WorkflowStepView[];
  readonly states: ReadonlyMap<string, StepState> | undefined;
  readonly label: string;
}) {
  const columns = columnsOf(steps);
  const rows = new Map<number, number>();
  const places = new Map(
    steps.map(({ id }) => {
      const column = columns.get(id) ?? 0;
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      return [id, { x: column * (WIDTH + GAP.x), y: row * (HEIGHT + GAP.y) }] as const;
    }),
  );
  const width = rows.size * (WIDTH + GAP.x) - GAP.x;
  const height = Math.max(1, ...rows.values()) * (HEIGHT + GAP.y) - GAP.y;
  const at = (id: string) => places.get(id) ?? { x: 0, y: 0 };
  return (
    <div class="graph" role="region" aria-label={label} tabIndex={0}>
      <svg viewBox={`-2 -2 ${width + 4} ${height + 4}`} width={width + 4} height={height + 4} role="img">
        <title>{label}</title>
        {steps.flatMap(({ id, needs }) =>
          needs.map((name) => <path key={`${name} ${id}`} class="edge" d={edge(at(name), at(id))} />),
        )}
        {steps.map((step) => {
          const { x, y } = at(step.id);
          const state = states?.get(step.id);
          return (
            <g key={step.id} class={`node ${(state ?? "plain").replace(" ", "-")}`} transform={`translate(${x} ${y})`}>
              <title>{`${step.id}: ${step.tool ?? step.approval ?? ""}${state === undefined ? "" : `, ${state}`}`}</title>
              <rect width={WIDTH} height={HEIGHT} rx="6" />
              <text x="10" y="21">
                {cut(step.id + (step.forEach === undefined ? "" : " ×"))}
              </text>
              <text x="10" y="40" class="small">
                {cut(step.tool ?? "asks a person")}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Returns a curve from the right edge of one box to the left edge of another. */
function edge(from: Point, to: Point): string {
  const [startX, startY, endX, endY] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const middle = (startX + endX) / 2;
  return `M${startX} ${startY} C${middle} ${startY} ${middle} ${endY} ${endX} ${endY}`;
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
