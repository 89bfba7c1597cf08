const DAY_MS = 86_400_000;

/** The day or month that a time is in, by UTC. */
export interface Period {
  /** `2026-05-04`, or `2026-05`. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

export function periodOf(kind: "day" | "month", now: number): Period {
  const at = new Date(now);
  const day = at.toISOString().slice(0, 10);
  if (kind === "day") return { name: day, endsAt: Date.parse(day) + DAY_MS };
  return { name: day.slice(0, 7), endsAt: Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1) };
}
