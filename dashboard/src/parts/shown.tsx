import type { ComponentChildren } from "preact";
import type { RequestState } from "./ask.ts";
import { Failure } from "./failure.tsx";

/** Shows the state of a request to the gateway: its value, a loading text, or the error. */
export function Shown<Answer>({
  asked: { answer, error, loading },
  children,
}: {
  readonly asked: RequestState<Answer>;
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
