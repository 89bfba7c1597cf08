import { useEffect } from "preact/hooks";
import { gateway } from "../gateway.ts";
import { events } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

const PIN_EVENTS = new Set(["tool-changed", "pin-accepted", "pins-waiting", "tool-conflicted"]);

/** Servers' changes since they were accepted. */
export function Pins() {
  const asked = useAsk(() => gateway().pins.list(), []);
  const latest = events.value.find(({ name }) => PIN_EVENTS.has(name));
  useEffect(() => void (latest && asked.again()), [latest]);
  return (
    <>
      <h1>Pins</h1>
      <Shown asked={asked}>
        {(pins) => {
          const waiting = pins.filter(({ state }) => state !== "accepted");
          return (
            <>
              {waiting.length === 0 && <p class="dim">Nothing waits to be accepted.</p>}
              {waiting.map(({ id, ensemble, state, diff, hash, seenAt }) => (
                <article key={id} class="card">
                  <h2>
                    <code>{id}</code> <Badge state={state} />
                  </h2>
                  <p class="dim">
                    From {ensemble}, since <Time at={seenAt} />
                  </p>
                  <pre class="json diff" tabIndex={0} role="region" aria-label={`What changed in ${id}`}>
                    {diff.map((line, index) => (
                      <span
                        key={index}
                        class={line.startsWith("+") ? "good" : line.startsWith("-") ? "bad" : undefined}
                      >
                        {line}
                        {"\n"}
                      </span>
                    ))}
                  </pre>
                  {state === "conflict" ? (
                    <p>Another process wrote this into the catalog. It is not used; reload {ensemble} to replace it.</p>
                  ) : (
                    <Action
                      label="Accept"
                      operation="acceptPin"
                      run={() => gateway().pins.accept(id, { hash })}
                      onDone={asked.again}
                    />
                  )}
                </article>
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
