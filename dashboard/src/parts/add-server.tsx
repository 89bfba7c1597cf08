import { useEffect, useState } from "preact/hooks";
import { type ArsenalClient, isArsenalError } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { Failure } from "./failure.tsx";
import { Log } from "./log.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { type SourceForm, sourceForm } from "./source-forms.ts";

type NamedSource = Parameters<ArsenalClient["add"]>[0];
type Values = Readonly<Record<string, unknown>>;

interface ConnectAttempt {
  readonly name: string;
  /** Cancels the attempt. Omitted once it has ended. */
  readonly running?: AbortController;
  readonly error?: unknown;
  readonly done?: string;
}

/** A form to add a source. It shows the source's log while it connects. The gateway supplies the types and their settings. */
export function AddServer({ onAdded }: { onAdded(): void }) {
  const [forms, setForms] = useState<readonly SourceForm[]>([]);
  const [type, setType] = useState<string>();
  const [values, setValues] = useState<Values>({});
  const [attempt, setAttempt] = useState<ConnectAttempt>();
  const [made, setMade] = useState(0);
  const running = attempt?.running;
  const form = forms.find((each) => each.type === type) ?? forms[0];

  useEffect(() => {
    const load = async (): Promise<void> => {
      const types = await gateway().ensembles.types();
      setForms(Object.entries(types).map(([each, schema]) => sourceForm(each, schema)));
    };
    load().catch((error: unknown) => setAttempt({ name: "", error }));
  }, []);

  function empty(): void {
    setValues({});
    setMade(made + 1);
  }

  async function add(source: NamedSource): Promise<void> {
    const name = String(values["name"] ?? source.type);
    const controller = new AbortController();
    const { signal } = controller;
    try {
      setAttempt({ name, running: controller });
      const tools = await gateway().add(source, { signal });
      setAttempt({ name, done: `${name} was added with ${tools === 1 ? "1 tool" : `${tools} tools`}.` });
      empty();
    } catch (error) {
      const done = `Cancelled. ${name} was not added.`;
      setAttempt({ name, ...(signal.aborted ? { done } : { error }) });
    }
    onAdded();
  }

  const { error } = attempt ?? {};
  // A server that was not started has no log, and another server may have its name.
  const failed = isArsenalError(error) && error.code === "SOURCE_UNAVAILABLE";
  return (
    <form
      class="card"
      aria-labelledby="add-server"
      onSubmit={(event) => {
        event.preventDefault();
        if (form !== undefined) void add({ ...values, type: form.type } as NamedSource);
      }}
    >
      <h2 id="add-server">Add a server</h2>
      <fieldset class="choice">
        <legend class="dim">What is it?</legend>
        {forms.map((each) => (
          <label key={each.type}>
            <input
              type="radio"
              name="type"
              checked={each === form}
              onChange={() => {
                setType(each.type);
                empty();
              }}
            />{" "}
            {each.type}
          </label>
        ))}
      </fieldset>
      {form !== undefined && (
        <div key={`${form.type} ${made}`}>
          <SchemaForm schema={form.main} value={values} onChange={setValues} />
          {Object.keys(form.more.properties ?? {}).length > 0 && (
            <details>
              <summary>More settings</summary>
              <SchemaForm schema={form.more} value={values} onChange={setValues} />
            </details>
          )}
        </div>
      )}
      <div class="actions">
        <button type="submit" disabled={running !== undefined}>
          Add
        </button>
        {running && (
          <>
            <button type="button" class="quiet" onClick={() => running.abort()}>
              Cancel
            </button>
            <progress aria-label={`Connecting ${attempt.name}`} />
          </>
        )}
        <span aria-live="polite">
          {running && <span class="dim">Connecting {attempt.name}…</span>}
          {attempt?.done !== undefined && <span class="good">{attempt.done}</span>}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {attempt !== undefined && (running || failed) && <Log key={attempt.name} name={attempt.name} />}
    </form>
  );
}
