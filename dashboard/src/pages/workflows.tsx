import { useEffect, useState } from "preact/hooks";
import type {
  WorkflowRunView,
  WorkflowStepView,
  WorkflowView,
  WorkflowViews,
  WorkflowWithRuns,
} from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { events } from "../live.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Graph } from "../parts/graph.tsx";
import { Shown } from "../parts/shown.tsx";
import { stepStates } from "../parts/step-state.ts";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { place, to } from "../router.ts";

/** Shows the workflows, or one of them with its runs. */
export function Workflows() {
  const [id] = place.value.rest;
  return id === undefined ? <AllWorkflows /> : <OneWorkflow id={id} />;
}

function AllWorkflows() {
  const asked = useAsk(() => gateway().workflows.list(), []);
  return (
    <>
      <h1>Workflows</h1>
      <Shown asked={asked}>{(views) => <Listed views={views} />}</Shown>
    </>
  );
}

function Listed({ views: { workflows, problems } }: { readonly views: WorkflowViews }) {
  return (
    <>
      <Table
        caption="Workflows"
        rows={workflows}
        keyOf={({ id }) => id}
        empty="There are no workflows. Add a source of type workflows to the configuration."
        columns={[
          { title: "Workflow", cell: ({ id }: WorkflowView) => <a href={to("workflows", [id])}>{id}</a> },
          { title: "Steps", cell: ({ steps }: WorkflowView) => steps.length },
          { title: "Description", cell: ({ description }: WorkflowView) => description },
        ]}
      />
      {problems.length > 0 && (
        <section class="attention" aria-label="Files that are not tools">
          <h2>Files that are not tools</h2>
          <ul>
            {problems.map(({ file, message }) => (
              <li key={file}>{message}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** The events that may change a run's view. */
const CHANGES = new Set(["run-turned", "call-finished", "confirmation-requested", "confirmation-resolved"]);
const LOOK_MS = 1_000;

function OneWorkflow({ id }: { readonly id: string }) {
  const asked = useAsk(() => gateway().workflows.get(id), [id]);
  const latest = events.value.find(({ name }) => CHANGES.has(name));
  useEffect(() => void (latest && asked.again()), [latest]);
  const isRunning = asked.answer?.runs.some(({ status }) => status === "running") === true;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => asked.again(), LOOK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return (
    <>
      <p>
        <a href={to("workflows")}>← Workflows</a>
      </p>
      <h1>{id}</h1>
      <Shown asked={asked}>{(workflow) => <Detail workflow={workflow} />}</Shown>
    </>
  );
}

function Detail({ workflow }: { readonly workflow: WorkflowWithRuns }) {
  const { id, description, file, steps, runs } = workflow;
  const [chosen, setChosen] = useState<string>();
  const run = runs.find((each) => each.id === chosen) ?? runs[0];
  const states = run && stepStates(steps, run);
  return (
    <>
      <p>{description}</p>
      <p class="dim">
        It is the tool <a href={to("catalog", [id])}>{id}</a>, from <code>{file}</code>.
      </p>
      {run && <RunHeader run={run} />}
      <Graph steps={steps} states={states} label={run ? `The run ${run.id}` : `The steps of ${id}`} />
      <Table
        caption="Steps"
        rows={steps}
        keyOf={(step) => step.id}
        empty="It has no steps."
        columns={[
          { title: "Step", cell: (step: WorkflowStepView) => step.id },
          { title: "Does", cell: ({ tool, approval }: WorkflowStepView) => tool ?? `asks: ${approval ?? ""}` },
          { title: "After", cell: ({ needs }: WorkflowStepView) => needs.join(", ") },
          { title: "If", cell: ({ if: condition }: WorkflowStepView) => condition && <code>{condition}</code> },
          { title: "For each", cell: ({ forEach }: WorkflowStepView) => forEach && <code>{forEach}</code> },
          { title: "Undone by", cell: ({ compensate }: WorkflowStepView) => compensate },
          ...(states
            ? [{ title: "State", cell: ({ id: step }: WorkflowStepView) => <Badge state={states.get(step) ?? ""} /> }]
            : []),
        ]}
      />
      <h2>Latest runs</h2>
      <Table
        caption="Latest runs"
        rows={runs}
        keyOf={(each) => each.id}
        empty="No runs are kept. A run is kept for a day."
        columns={[
          {
            title: "Started",
            cell: (each) => (
              <button type="button" class="link" aria-pressed={each === run} onClick={() => setChosen(each.id)}>
                <Time at={each.startedAt} />
              </button>
            ),
          },
          { title: "State", cell: ({ status }) => <Badge state={status} /> },
          { title: "Caller", cell: ({ owner }) => owner },
          { title: "Calls", cell: ({ calls }) => calls.length },
        ]}
      />
    </>
  );
}

/** The state of a run and the approvals that it waits for. */
function RunHeader({ run: { status, startedAt, owner, message, waits, traceId } }: { readonly run: WorkflowRunView }) {
  return (
    <>
      <p>
        <Badge state={status} /> started <Time at={startedAt} /> by {owner}
        {may("getTrace") && (
          <>
            {", "}
            <a href={to("calls", [traceId])}>its trace</a>
          </>
        )}
      </p>
      {waits.map(({ step, confirmationId }) => (
        <p key={confirmationId} role="status">
          The step {step} waits for <a href={to("approvals")}>an approval</a>: <code>{confirmationId}</code>
        </p>
      ))}
      {message !== undefined && <p role="alert">{message}</p>}
    </>
  );
}
