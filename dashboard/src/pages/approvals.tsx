import { useEffect, useState } from "preact/hooks";
import type { DecidedApproval, PendingApproval } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { events } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Countdown } from "../parts/countdown.tsx";
import { Field } from "../parts/field.tsx";
import { Json } from "../parts/json.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { countAgain, waiting as counted } from "../waiting.ts";

export function Approvals() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const asked = useAsk(() => gateway().approvals.list({ limit: 50, ...(cursor && { cursor }) }), [cursor]);
  const decided = useAsk(() => gateway().approvals.decided({ limit: 20 }), []);
  const latest = events.value.find(({ name }) => name.startsWith("confirmation-"));
  const count = counted.value["approvals"]?.count;
  const again = (): void => {
    asked.again();
    decided.again();
    countAgain();
  };
  useEffect(() => void (latest && again()), [latest]);
  // Reloads for approvers who may not follow events.
  useEffect(() => void (count !== undefined && asked.answer !== undefined && again()), [count]);
  return (
    <>
      <h1>Approvals</h1>
      <Shown asked={asked}>
        {(waiting) => (
          <>
            {waiting.length === 0 && (
              <p class="dim">
                No call waits for your approval. Your own calls are listed only if you may approve them yourself.
              </p>
            )}
            {waiting.map((approval) => (
              <WaitingCall key={approval.id} approval={approval} onDone={again} />
            ))}
            <div class="actions">
              {cursor !== undefined && (
                <button type="button" class="quiet" onClick={() => setCursors(cursors.slice(0, -1))}>
                  Older
                </button>
              )}
              {waiting.next !== undefined && (
                <button type="button" class="quiet" onClick={() => setCursors([...cursors, waiting.next ?? ""])}>
                  Newer
                </button>
              )}
            </div>
          </>
        )}
      </Shown>
      <h2>Decided in the last 24 hours</h2>
      <Shown asked={decided}>{(answers) => <Decided answers={answers} />}</Shown>
      {may("queryAudit") && (
        <p class="dim">
          <a href={to("audit", [], { kind: "approval" })}>All decisions</a> are in the audit log.
        </p>
      )}
    </>
  );
}

/** A waiting call, with the data that an approver needs for a decision. */
function WaitingCall({ approval, onDone }: { readonly approval: PendingApproval; onDone(): void }) {
  const { id, toolId, reason, requestedBy, requestedAt, expiresAt, traceId, arguments: args } = approval;
  const [note, setNote] = useState("");
  const options = note.trim() === "" ? {} : { note };
  return (
    <article class="card">
      <h2>
        <a href={to("catalog", [toolId])}>
          <code>{toolId}</code>
        </a>
      </h2>
      <p>
        {requestedBy} asked <Time at={requestedAt} />. {reason}
      </p>
      <p>
        <Countdown until={expiresAt} onEnd={onDone} />
        {traceId !== undefined && may("getTrace") && (
          <>
            {" · "}
            <a href={to("calls", [traceId])}>Trace of the call</a>
          </>
        )}
      </p>
      <Json value={args} label={`Arguments of ${toolId}`} />
      <Field label="Note (optional): kept with the decision, not sent to the caller">
        <input value={note} maxLength={1_000} onInput={({ currentTarget }) => setNote(currentTarget.value)} />
      </Field>
      <div class="actions">
        <Action label="Approve" run={() => gateway().approvals.approve(id, options)} onDone={onDone} />
        <Action label="Deny" tone="danger" run={() => gateway().approvals.deny(id, options)} onDone={onDone} />
      </div>
    </article>
  );
}

function Decided({ answers }: { readonly answers: readonly DecidedApproval[] }) {
  return (
    <Table
      caption="Decided"
      rows={answers}
      keyOf={({ id, decidedAt }) => `${id} ${decidedAt}`}
      empty="Nobody decided on a call."
      columns={[
        { title: "When", cell: ({ decidedAt }) => <Time at={decidedAt} /> },
        { title: "Tool", cell: ({ toolId }) => <a href={to("catalog", [toolId])}>{toolId}</a> },
        { title: "Decision", cell: ({ outcome }) => <Badge state={outcome} /> },
        { title: "By", cell: ({ decidedBy }) => decidedBy },
        { title: "Caller", cell: ({ requestedBy }) => requestedBy },
        { title: "Note", cell: ({ note }) => note },
        {
          title: "Trace",
          cell: ({ traceId }) =>
            traceId !== undefined && may("getTrace") && <a href={to("calls", [traceId])}>{traceId.slice(0, 12)}</a>,
        },
      ]}
    />
  );
}
