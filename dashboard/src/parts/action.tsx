import { useEffect, useRef, useState } from "preact/hooks";
import { may } from "../gateway.ts";
import { messageOf } from "./failure.tsx";

/**
 * A button for an action at the gateway, with its error next to it. With `confirm`, the user must first confirm with one of the two answers. Hidden
 * if the user may not use the `operation`.
 */
export function Action(props: {
  readonly label: string;
  readonly operation?: string;
  readonly tone?: "quiet" | "danger";
  readonly confirm?: { readonly yes: string; readonly no: string };
  run(): Promise<unknown>;
  onDone?(): void;
}) {
  const { label, operation, tone, confirm, run, onDone } = props;
  const [state, setState] = useState<{ readonly doing?: "asks" | "runs"; readonly problem?: string }>({});
  const focused = useRef<HTMLButtonElement>(null);
  const asks = confirm !== undefined && state.doing === "asks";
  const asked = useRef(false);
  useEffect(() => {
    // The previously focused button is gone.
    if (asked.current !== asks) focused.current?.focus();
    asked.current = asks;
  }, [asks]);
  async function act(): Promise<void> {
    setState({ doing: "runs" });
    try {
      await run();
      setState({});
      onDone?.();
    } catch (error) {
      setState({ problem: messageOf(error) });
    }
  }
  if (operation !== undefined && !may(operation)) return null;
  if (asks)
    return (
      <>
        <button type="button" class="danger" onClick={() => void act()}>
          {confirm.yes}
        </button>
        <button type="button" class="quiet" ref={focused} onClick={() => setState({})}>
          {confirm.no}
        </button>
      </>
    );
  return (
    <>
      <button
        type="button"
        class={tone}
        ref={focused}
        disabled={state.doing === "runs"}
        onClick={() => (confirm === undefined ? void act() : setState({ doing: "asks" }))}
      >
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
