import { useState } from "preact/hooks";
import type { SavedProgram } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { Action } from "./action.tsx";
import { useAsk } from "./ask.ts";
import { Badge } from "./badge.tsx";
import { Field } from "./field.tsx";
import { Form } from "./form.tsx";
import { Shown } from "./shown.tsx";
import { Table } from "./table.tsx";

/** Saves the program of a run as a tool. A caller who is not an operator only proposes it. */
export function SaveProgram({ runId }: { readonly runId: string }) {
  const [saved, setSaved] = useState<SavedProgram | undefined>(undefined);
  const isOperator = may("acceptProgram");
  return (
    <section class="card">
      <Form
        title={isOperator ? "Save as a tool" : "Propose as a tool"}
        submit={isOperator ? "Save" : "Propose"}
        run={async (text) =>
          setSaved(await gateway().programs.save({ runId, name: text("name"), description: text("description") }))
        }
      >
        <p class="dim">
          The type of <code>input</code> in the program becomes the tool's arguments. It runs with the rights of its
          caller, and calls only the tools that it calls now.
        </p>
        <Field label="Name">
          <input name="name" required pattern="[a-z][a-z0-9_]*" placeholder="open_bugs" />
        </Field>
        <Field label="Description">
          <input name="description" required placeholder="Counts the open bugs of a project by assignee." />
        </Field>
      </Form>
      {saved !== undefined && (
        <p role="status">
          programs.{saved.name} {saved.status === "accepted" ? "is a tool now." : "waits for an operator."}
        </p>
      )}
    </section>
  );
}

/** Shows the saved programs, including those that wait for an operator. */
export function SavedPrograms() {
  const asked = useAsk(() => gateway().programs.list(), []);
  return (
    <section>
      <h2>Saved programs</h2>
      <Shown asked={asked}>
        {({ programs }) => (
          <Table<SavedProgram>
            caption="Saved programs"
            rows={programs}
            keyOf={({ name }) => name}
            empty="No programs are saved. Open a program that succeeded to save it as a tool."
            columns={[
              { title: "Tool", cell: ({ name, code }) => <Code name={name} code={code} /> },
              { title: "Status", cell: ({ status }) => <Badge state={status} /> },
              { title: "Description", cell: ({ description }) => description },
              { title: "Calls", cell: ({ tools }) => tools.join(", ") },
              {
                title: "By",
                cell: ({ savedBy, tenant }) => (tenant === undefined ? savedBy : `${savedBy} of ${tenant}`),
              },
              {
                title: "Actions",
                cell: ({ name, status, digest }) => (
                  <>
                    {status === "proposed" && (
                      <Action
                        label="Accept"
                        operation="acceptProgram"
                        run={() => gateway().programs.accept(name, { digest })}
                        onDone={asked.again}
                      />
                    )}{" "}
                    <Action
                      label="Remove"
                      operation="removeSavedProgram"
                      tone="quiet"
                      confirm={{ yes: `Remove ${name}`, no: "Keep it" }}
                      run={() => gateway().programs.remove(name)}
                      onDone={asked.again}
                    />
                  </>
                ),
              },
            ]}
          />
        )}
      </Shown>
    </section>
  );
}

/** Shows the tool's id, which opens its code. */
function Code({ name, code }: Pick<SavedProgram, "name" | "code">) {
  return (
    <details>
      <summary>programs.{name}</summary>
      <pre>
        <code>{code}</code>
      </pre>
    </details>
  );
}
