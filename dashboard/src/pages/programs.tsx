import { useEffect } from "preact/hooks";
import type { RemoteRun, RemoteRunHead } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { SavedPrograms, SaveProgram } from "../parts/saved-programs.tsx";
import { Badge } from "../parts/badge.tsx";
import { Json } from "../parts/json.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { type Bar, Waterfall } from "../parts/waterfall.tsx";
import { place, to } from "../router.ts";

/** Polling interval for a program that runs or waits, in milliseconds. */
const LOOK_MS = 2_000;

/** Shows the programs of the last day, or one of them with its calls. */
export function Programs() {
  const [id] = place.value.rest;
  return id === undefined ? <Listed /> : <OneProgram id={id} />;
}

function Listed() {
  const asked = useAsk(() => gateway().runs.list(), []);
  return (
    <>
      <h1>Programs</h1>
      <Shown asked={asked}>
        {({ runs }) => (
          <Table<RemoteRunHead>
            caption="Programs, newest first"
            rows={runs.filter(({ kind }) => kind === "program")}
            keyOf={(run) => run.id}
            empty="No programs were run in the last day. Models write them in code mode: serve --mode code."
            columns={[
              { title: "Program", cell: ({ id, title }) => <a href={to("programs", [id])}>{title}</a> },
              { title: "Status", cell: ({ status }) => <Badge state={status} /> },
              { title: "Depth", cell: ({ depth = 1 }) => depth },
              { title: "By", cell: ({ owner, tenant }) => (tenant === undefined ? owner : `${owner} of ${tenant}`) },
              { title: "Started", cell: ({ startedAt }) => <Time at={startedAt} /> },
            ]}
          />
        )}
      </Shown>
      {may("listSavedPrograms") && <SavedPrograms />}
    </>
  );
}

function OneProgram({ id }: { readonly id: string }) {
  const asked = useAsk(() => gateway().runs.get(id), [id]);
  const status = asked.answer?.status;
  const isOpen = status === "running" || status === "waiting";
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(asked.again, LOOK_MS);
    return () => clearInterval(timer);
  }, [id, isOpen]);
  return (
    <>
      <p>
        <a href={to("programs")}>← Programs</a>
      </p>
      <h1>Program</h1>
      <Shown asked={asked}>{(run) => <Details run={run} again={asked.again} />}</Shown>
    </>
  );
}

function Details({ run, again }: { readonly run: RemoteRun; readonly again: () => void }) {
  const { id, status, tool, depth = 1, owner, tenant, startedAt, traceId, waits, error, calls, work, result } = run;
  const { code = "" } = (work ?? {}) as { readonly code?: string };
  const isOpen = status === "running" || status === "waiting";
  return (
    <>
      <p class="dim">
        <Badge state={status} /> <Time at={startedAt} />, by {owner}
        {tenant !== undefined && ` of ${tenant}`}, <a href={to("calls", [traceId])}>trace</a>
        {tool !== undefined && `, a call of ${tool}`}
        {depth > 1 && `, at depth ${depth}: another program or workflow called it`}
      </p>
      {waits.map((wait) => (
        <p key={wait.confirmationId} class="warn">
          It waits for a person to approve {wait.tool}.{" "}
          {may("listApprovals") && <a href={to("approvals")}>Approvals</a>}
        </p>
      ))}
      {error !== undefined && (
        <p class="bad">
          {error.line !== undefined && `Line ${error.line}: `}
          {error.message}
        </p>
      )}
      {isOpen && (
        <button type="button" class="quiet" onClick={() => void gateway().runs.cancel(id).then(again)}>
          Cancel
        </button>
      )}
      {status === "done" && tool === undefined && may("saveProgram") && <SaveProgram runId={id} />}
      <section class="card">
        <h2>Code</h2>
        <div class="table" role="region" aria-label="Code" tabIndex={0}>
          <pre>
            <code>{code}</code>
          </pre>
        </div>
      </section>
      <section class="card">
        <h2>Calls</h2>
        {calls.length === 0 ? <p class="dim">It has made no calls.</p> : <Waterfall bars={calls.map(toBar)} />}
      </section>
      {result !== undefined && (
        <section class="card">
          <h2>Result</h2>
          <Json value={result} label="Result" />
        </section>
      )}
    </>
  );
}

function toBar({ tool, status, startedAt, durationMs }: RemoteRun["calls"][number]): Bar {
  const isFine = status === "success";
  return { title: isFine ? tool : `${tool}: ${status}`, kind: isFine ? "call" : "failed", from: startedAt, durationMs };
}
