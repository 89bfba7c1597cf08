import { useEffect, useState } from "preact/hooks";
import { gateway } from "../gateway.ts";
import { events } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Json } from "../parts/json.tsx";
import { Shown } from "../parts/shown.tsx";
import { Time } from "../parts/time.tsx";

export function Approvals() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const asked = useAsk(() => gateway().approvals.list({ limit: 50, ...(cursor && { cursor }) }), [cursor]);
  const latest = events.value.find(({ name }) => name.startsWith("confirmation-"));
  useEffect(() => void (latest && asked.again()), [latest]);
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
            {waiting.map(({ id, toolId, reason, requestedBy, requestedAt, arguments: args }) => (
              <article key={id} class="card">
                <h2>
                  <code>{toolId}</code>
                </h2>
                <p>
                  {requestedBy} asked <Time at={requestedAt} />. {reason}
                </p>
                <Json value={args} label={`Arguments of ${toolId}`} />
                <div class="actions">
                  <Action label="Approve" run={() => gateway().approvals.approve(id)} onDone={asked.again} />
                  <Action label="Deny" tone="danger" run={() => gateway().approvals.deny(id)} onDone={asked.again} />
                </div>
              </article>
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
    </>
  );
}
