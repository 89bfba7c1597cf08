import { useState } from "preact/hooks";
import { messageOf } from "./failure.tsx";

/** A button that does something at the gateway, and says next to it if that failed. `confirm` asks first. */
export function Action(props: {
  readonly label: string;
  readonly tone?: "quiet" | "danger";
  readonly confirm?: string;
  run(): Promise<unknown>;
  onDone?(): void;
}) {
  const { label, tone, confirm, run, onDone } = props;
  const [state, setState] = useState<{ readonly busy: boolean; readonly problem?: string }>({ busy: false });
  async function act(): Promise<void> {
    if (confirm !== undefined && !window.confirm(confirm)) return;
    setState({ busy: true });
    try {
      await run();
      setState({ busy: false });
      onDone?.();
    } catch (error) {
      setState({ busy: false, problem: messageOf(error) });
    }
  }
  return (
    <>
      <button type="button" class={tone} disabled={state.busy} onClick={() => void act()}>
        {label}
      </button>
      {state.problem !== undefined && (
        <span role="alert" class="bad">
          {state.problem}
        </span>
      )}
    </>
  );
}
