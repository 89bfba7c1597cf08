import type { ComponentChildren } from "preact";
import type { Asked } from "./ask.ts";
import { Failure } from "./failure.tsx";

/** Shows an answer of the gateway, that it is on its way, or why it did not come. */
export function Shown<Answer>({
  asked: { answer, error, loading },
  children,
}: {
  readonly asked: Asked<Answer>;
  children(answer: Answer): ComponentChildren;
}) {
  return (
    <div aria-live="polite" aria-busy={loading}>
      {error !== undefined && <Failure error={error} />}
      {answer !== undefined && children(answer)}
      {answer === undefined && loading && <p class="dim">Loading…</p>}
    </div>
  );
}
