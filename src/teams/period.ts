const DAY_MS = 86_400_000;

/** The UTC day or month of a time. */
export interface Period {
  /** `2026-05-04` or `2026-05`. */
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
