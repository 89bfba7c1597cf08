import { useMemo } from "preact/hooks";
import { Choice, Field } from "./field.tsx";

/** A range of time as stored in the address. Empty texts mean any time. */
export interface TimeRange {
  /** The name of a range that ends now, or `between`. */
  readonly when: string;
  /** For `between`: local times such as `2026-05-04T12:00`. */
  readonly from: string;
  readonly to: string;
}

const MINUTE = 60_000;
const LAST: Readonly<Record<string, readonly [text: string, ms: number]>> = {
  "15m": ["the last 15 minutes", 15 * MINUTE],
  "1h": ["the last hour", 60 * MINUTE],
  "24h": ["the last 24 hours", 24 * 60 * MINUTE],
  "7d": ["the last 7 days", 7 * 24 * 60 * MINUTE],
};
const BETWEEN = "between";

export function readRange(query: URLSearchParams): TimeRange {
  return { when: query.get("when") ?? "", from: query.get("from") ?? "", to: query.get("to") ?? "" };
}

export function rangeQuery({ when, from, to }: TimeRange): Record<string, string> {
  return {
    ...(when !== "" && { when }),
    ...(when === BETWEEN && from !== "" && { from }),
    ...(when === BETWEEN && to !== "" && { to }),
  };
}

/** Returns the ends of a range, in milliseconds since the epoch. They stay the same until the range changes. */
export function useTimes({ when, from, to }: TimeRange): { readonly from?: number; readonly to?: number } {
  return useMemo(() => {
    const last = LAST[when];
    if (last !== undefined) return { from: Date.now() - last[1] };
    if (when !== BETWEEN) return {};
    const [start, end] = [Date.parse(from), Date.parse(to)];
    return { ...(!Number.isNaN(start) && { from: start }), ...(!Number.isNaN(end) && { to: end }) };
  }, [when, from, to]);
}

/** Converts the ends of a range to the gateway's format. */
export function toQuery({ from, to }: ReturnType<typeof useTimes>): { readonly from?: string; readonly to?: string } {
  return {
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  };
}

export function TimeRangeFields(props: { readonly range: TimeRange; onChange(range: TimeRange): void }) {
  const { range, onChange } = props;
  const end = (key: "from" | "to", label: string) => (
    <Field label={label}>
      <input
        type="datetime-local"
        value={range[key]}
        onChange={({ currentTarget: { value } }) => onChange({ ...range, [key]: value })}
      />
    </Field>
  );
  return (
    <>
      <Choice
        all="any time"
        label="When"
        value={range.when}
        values={[...Object.entries(LAST).map(([name, [text]]) => [name, text] as const), [BETWEEN, "between …"]]}
        onChange={(when) => onChange({ ...range, when })}
      />
      {range.when === BETWEEN && (
        <>
          {end("from", "From")}
          {end("to", "Until")}
        </>
      )}
    </>
  );
}
