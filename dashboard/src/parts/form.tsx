import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Failure } from "./failure.tsx";

/** A form that opens from its title. `run` gets the texts of the fields by name; its error is shown in the form. */
export function Form(props: {
  readonly title: string;
  readonly submit: string;
  run(text: (name: string) => string): Promise<void>;
  onDone?(): void;
  readonly children: ComponentChildren;
}) {
  const { title, submit, run, onDone, children } = props;
  const [state, setState] = useState<{ readonly runs?: boolean; readonly error?: unknown }>({});
  const heading = useId();
  async function send(form: HTMLFormElement): Promise<void> {
    const data = new FormData(form);
    setState({ runs: true });
    try {
      await run((name) => String(data.get(name) ?? "").trim());
      form.reset();
      setState({});
      onDone?.();
    } catch (error) {
      setState({ error });
    }
  }
  return (
    <details>
      <summary id={heading}>{title}</summary>
      <form
        aria-labelledby={heading}
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        {children}
        <button type="submit" disabled={state.runs === true}>
          {submit}
        </button>
        {state.error !== undefined && <Failure error={state.error} />}
      </form>
    </details>
  );
}

/** Splits a text at commas and blanks. */
export function wordsIn(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
