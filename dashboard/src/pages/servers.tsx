import { useEffect, useId, useState } from "preact/hooks";
import type { ArsenalEvent, EnsembleStatus } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { events } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { AddServer } from "../parts/add-server.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Log } from "../parts/log.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";

/** Shows the ensembles, their state and their logs, and a form to add one. */
export function Servers() {
  const asked = useAsk(() => gateway().ensembles.list(), []);
  const about = events.value.filter(({ name }) => name.startsWith("ensemble-"));
  useEffect(() => void (about[0] && asked.again()), [about[0]]);
  return (
    <>
      <h1>Servers</h1>
      <Shown asked={asked}>
        {(ensembles) =>
          ensembles.length === 0 ? (
            <p class="dim">Nothing is connected yet.{may("addEnsemble") && " Add a server below."}</p>
          ) : (
            ensembles.map((each) => <Server key={each.name} ensemble={each} onChange={asked.again} />)
          )
        }
      </Shown>
      {may("addEnsemble") ? (
        <>
          <AddServer onAdded={asked.again} />
          <p class="dim">
            Servers that you add here last until the gateway restarts. Write them into the configuration to keep them.
            New tools may wait at <a href={to("pins")}>Pins</a>.
          </p>
        </>
      ) : (
        <p class="dim">Servers are shared by all tenants. Only an operator who belongs to no tenant can change them.</p>
      )}
      <h2>Recent events</h2>
      <Table
        caption="What servers did"
        rows={about.slice(0, 20)}
        keyOf={(event) => `${event.at} ${event.name} ${JSON.stringify(event.data)}`}
        empty="Nothing happened since this page was opened."
        columns={[
          { title: "When", cell: ({ at }) => <Time at={at} /> },
          { title: "Server", cell: ({ data }) => ("ensemble" in data ? String(data.ensemble) : "") },
          { title: "What", cell: ({ name }) => <Badge state={name.replace("ensemble-", "")} /> },
          { title: "Details", cell: detailsOf },
        ]}
      />
    </>
  );
}

function detailsOf({ data }: ArsenalEvent): string {
  if ("message" in data) return String(data.message);
  return "tools" in data ? count(Number(data.tools)) : "";
}

const SOURCES: Readonly<Record<EnsembleStatus["source"], string>> = {
  function: "functions",
  mcp: "MCP server",
  openapi: "OpenAPI document",
  a2a: "A2A agent",
  descriptor: "descriptor",
  workflow: "workflow files",
  program: "saved programs",
  builtin: "built-in tools",
};

function Server({ ensemble, onChange }: { readonly ensemble: EnsembleStatus; onChange(): void }) {
  const { name, source, state, problem, tools, persisted } = ensemble;
  const [showsLog, setShowsLog] = useState(false);
  const id = useId();
  const { ensembles, remove } = gateway();
  const act = (doing: "connect" | "restart" | "reload" | "disconnect") => (
    <Action
      key={doing}
      label={doing.replace(/^./, (first) => first.toUpperCase())}
      operation={`${doing}Ensemble`}
      {...(doing !== "connect" && { tone: "quiet" })}
      run={() => ensembles[doing](name)}
      onDone={onChange}
    />
  );
  const isAway = state === "disconnected" || state === "failed";
  return (
    <article class="card server" aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{name}</h2>
        <Badge state={state} />
        <span class="dim">
          {SOURCES[source]}, {count(tools)}
          {!persisted && ", until the gateway restarts"}
        </span>
        <div class="actions">
          {(isAway ? (["connect"] as const) : (["restart", "reload"] as const)).map(act)}
          {state !== "disconnected" && act("disconnect")}
          {!persisted && (
            <Action
              label="Remove"
              operation="removeEnsemble"
              tone="quiet"
              confirm={{ yes: "Yes, remove", no: "Keep" }}
              run={() => remove(name)}
              onDone={onChange}
            />
          )}
          {source === "mcp" && may("getEnsembleLog") && (
            <button
              type="button"
              class="quiet"
              aria-expanded={showsLog}
              aria-controls={`${id}-log`}
              onClick={() => setShowsLog(!showsLog)}
            >
              Log
            </button>
          )}
        </div>
      </div>
      {problem !== undefined && <p class="bad">{problem}</p>}
      <div id={`${id}-log`}>{showsLog && <Log name={name} />}</div>
    </article>
  );
}

function count(tools: number): string {
  return tools === 1 ? "1 tool" : `${tools} tools`;
}
