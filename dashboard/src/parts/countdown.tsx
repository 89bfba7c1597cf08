import { useEffect, useState } from "preact/hooks";

/** Counts down to a time by the second, and then calls `onEnd`. */
export function Countdown({ until, onEnd }: { readonly until: number; onEnd(): void }) {
  const [now, setNow] = useState(Date.now());
  const left = Math.max(0, Math.ceil((until - now) / 1_000));
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) return onEnd();
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOver]);
  const text = isOver ? "expired" : `expires in ${inWords(left)}`;
  return (
    // Screen readers do not read out each change of a timer.
    <span role="timer" class={left <= 60 ? "bad" : "dim"} title={new Date(until).toISOString()}>
      {text}
    </span>
  );
}

function inWords(seconds: number): string {
  const [days, hours, minutes] = [86_400, 3_600, 60].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}
