import { useEffect, useState } from "preact/hooks";
import type { Pin, PinFinding } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { events } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { messageOf } from "../parts/failure.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { countAgain } from "../waiting.ts";

const PIN_EVENTS = new Set(["tool-changed", "pin-accepted", "pins-waiting", "tool-conflicted"]);

/** Shows how servers' definitions changed since they were accepted. */
export function Pins() {
  const asked = useAsk(() => gateway().pins.list({ findings: true }), []);
  const latest = events.value.find(({ name }) => PIN_EVENTS.has(name));
  useEffect(() => void (latest && asked.again()), [latest]);
  const again = (): void => {
    asked.again();
    countAgain();
  };
  return (
    <>
      <h1>Pins</h1>
      <p>
        A pin is the version of a tool, of a server's instructions or of its command that was accepted. If the server
        changes it, calls are refused until somebody accepts the change.
      </p>
      <Shown asked={asked}>
        {(pins) => {
          const open = pins.filter(({ state }) => state !== "accepted");
          const refused = open.filter(({ refusedBy }) => refusedBy !== undefined);
          const waiting = open.filter(({ refusedBy }) => refusedBy === undefined);
          return (
            <>
              {waiting.length === 0 && <p class="dim">Nothing waits to be accepted.</p>}
              {waiting.map((pin) => (
                <OpenPin key={`${pin.id} ${pin.hash}`} pin={pin} onDone={again} />
              ))}
              {refused.length > 0 && <h2>Refused</h2>}
              {refused.map((pin) => (
                <OpenPin key={`${pin.id} ${pin.hash}`} pin={pin} onDone={again} />
              ))}
              <h2>Accepted</h2>
              <Table
                caption="Accepted pins"
                rows={pins.filter(({ state }) => state === "accepted")}
                keyOf={({ id }) => id}
                empty="Nothing is pinned."
                columns={[
                  { title: "Tool", cell: ({ id }) => <code>{id}</code> },
                  { title: "From", cell: ({ ensemble }) => ensemble },
                  { title: "Accepted by", cell: ({ acceptedBy }) => acceptedBy ?? "first sight" },
                  { title: "Hash", cell: ({ hash }) => <code>{hash.slice(0, 12)}</code> },
                ]}
              />
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** An item that is not accepted: the changes, the scanner's findings, and buttons to decide. */
function OpenPin({ pin, onDone }: { readonly pin: Pin; onDone(): void }) {
  const { id, ensemble, state, hash, seenAt, refusedBy, findings } = pin;
  return (
    <article class="card">
      <h2>
        <code>{id}</code> <Badge state={refusedBy === undefined ? state : "refused"} />
      </h2>
      <p class="dim">
        From <a href={to("servers")}>{ensemble}</a>, since <Time at={seenAt} />
        {refusedBy !== undefined && `. ${refusedBy} decided to keep refusing it`}
      </p>
      <div class="compared">
        <Diff pin={pin} />
        {findings !== undefined && <Findings findings={findings} />}
      </div>
      {state === "conflict" ? (
        <p>Another process wrote this into the catalog. It is not used; reload {ensemble} to replace it.</p>
      ) : (
        <div class="actions">
          <Action
            label="Accept"
            operation="acceptPin"
            run={() => gateway().pins.accept(id, { hash })}
            onDone={onDone}
          />
          {refusedBy === undefined && (
            <Action
              label="Keep refusing"
              operation="refusePin"
              tone="quiet"
              run={() => gateway().pins.refuse(id, { hash })}
              onDone={onDone}
            />
          )}
          <Action
            label="Remove server"
            operation="removeEnsemble"
            tone="quiet"
            confirm={{ yes: `Yes, remove ${ensemble}`, no: "Keep it" }}
            run={() => gateway().remove(ensemble)}
            onDone={onDone}
          />
        </div>
      )}
      {state !== "conflict" && may("removeEnsemble") && (
        <p class="dim">
          Removing {ensemble} takes all of its tools away. If it is in the configuration, remove it there too, or it
          comes back when the gateway restarts.
        </p>
      )}
    </article>
  );
}

/** Shows the changed lines, or on request all lines with whole texts. */
function Diff({ pin: { id, diff } }: { readonly pin: Pin }) {
  const [whole, setWhole] = useState<readonly string[]>();
  const [problem, setProblem] = useState("");
  async function load(): Promise<void> {
    try {
      const [found] = await gateway().pins.list({ id, whole: true });
      setWhole(found?.diff ?? []);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }
  return (
    <div>
      <pre class="json diff" tabIndex={0} role="region" aria-label={`What changed in ${id}`}>
        {(whole ?? diff).map((line, index) => (
          <span key={index} class={line.startsWith("+") ? "good" : line.startsWith("-") ? "bad" : undefined}>
            {line}
            {"\n"}
          </span>
        ))}
      </pre>
      <button type="button" class="quiet" onClick={() => (whole === undefined ? void load() : setWhole(undefined))}>
        {whole === undefined ? "Show the whole diff" : "Show only what changed"}
      </button>
      {problem !== "" && (
        <p role="alert" class="bad">
          {problem}
        </p>
      )}
    </div>
  );
}

const TONES: Readonly<Record<PinFinding["severity"], string>> = {
  info: "warn",
  low: "warn",
  medium: "warn",
  high: "bad",
  critical: "bad",
};

function Findings({ findings }: { readonly findings: readonly PinFinding[] }) {
  return (
    <section class="findings" aria-label="Findings of the scanner">
      <h3>Scanner</h3>
      {findings.length === 0 ? (
        <p class="dim">It found no sign of an attack. That is no proof: read the change.</p>
      ) : (
        <ul>
          {findings.map(({ rule, severity, message, path, excerpt, hidden }, index) => (
            <li key={index}>
              <span class={`badge ${TONES[severity]}`}>{severity}</span> {message}
              <small>
                <code>{rule}</code>
                {path !== undefined && (
                  <>
                    {" in "}
                    <code>{path}</code>
                  </>
                )}
              </small>
              {excerpt !== "" && <q>{excerpt}</q>}
              {hidden !== undefined && <p>Hidden text: {hidden}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
