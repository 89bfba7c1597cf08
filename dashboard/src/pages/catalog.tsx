import { useState } from "preact/hooks";
import type { Tool } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Definition } from "../parts/definition.tsx";
import { Json } from "../parts/json.tsx";
import { RunTool } from "../parts/run-tool.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { place, to } from "../router.ts";

const SOURCES = ["function", "mcp", "openapi", "a2a", "descriptor", "builtin"] as const;

/** Every tool, or the one that the address names. */
export function Catalog() {
  const [id] = place.value.rest;
  return id === undefined ? <AllTools /> : <OneTool key={id} id={id} />;
}

function AllTools() {
  const [source, setSource] = useState<(typeof SOURCES)[number] | "">("");
  const [namespace, setNamespace] = useState("");
  const [words, setWords] = useState("");
  const asked = useAsk(
    async () => {
      const pages = gateway().pages({
        limit: 500,
        ...(source !== "" && { source }),
        ...(namespace !== "" && { namespace }),
      });
      const { value } = await pages.next();
      return (value ?? []) as readonly Tool[];
    },
    [source, namespace],
    { delayMs: 150 },
  );
  return (
    <>
      <h1>Catalog</h1>
      <div class="filters">
        <label class="field">
          Contains
          <input type="search" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </label>
        <label class="field">
          Namespace
          <input value={namespace} onInput={({ currentTarget }) => setNamespace(currentTarget.value.trim())} />
        </label>
        <label class="field">
          Source
          <select value={source} onChange={({ currentTarget }) => setSource(currentTarget.value as typeof source)}>
            <option value="">all</option>
            {SOURCES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      <Shown asked={asked}>
        {(tools) => (
          <Table
            caption="Tools"
            rows={tools.filter(({ id, description }) =>
              `${id} ${description}`.toLowerCase().includes(words.toLowerCase()),
            )}
            keyOf={({ id }) => id}
            empty="No tools match."
            columns={[
              { title: "Tool", cell: ({ id }) => <a href={to("catalog", [id])}>{id}</a> },
              { title: "Description", cell: ({ description }) => description.slice(0, 160) },
              { title: "Source", cell: ({ source: from }) => from },
              { title: "Risk", cell: ({ riskLevel }) => riskLevel },
            ]}
          />
        )}
      </Shown>
    </>
  );
}

function OneTool({ id }: { readonly id: string }) {
  const dot = id.indexOf(".");
  const asked = useAsk(async () => {
    const [tool, health] = await Promise.all([
      gateway().getTool(id.slice(dot + 1), id.slice(0, dot)),
      gateway().health(id),
    ]);
    return { tool, health };
  }, [id]);
  return (
    <>
      <p>
        <a href={to("catalog")}>← Catalog</a>
      </p>
      <Shown asked={asked}>
        {({ tool, health }) =>
          tool === undefined ? (
            <p>There is no tool "{id}".</p>
          ) : (
            <div class="columns">
              <section>
                <h1>{tool.title ?? tool.name}</h1>
                <p>
                  <code>{tool.id}</code> <Badge state={tool.source} /> <Badge state={tool.riskLevel} />
                </p>
                <p>{tool.description}</p>
                <h2>Health</h2>
                <Json value={health} label="Health" />
                <h2>Parameters</h2>
                <Json value={tool.parameters} label="Parameters" />
                <Definition toolId={tool.id} />
              </section>
              <section class="card">
                <h2>Run it</h2>
                <RunTool tool={tool} />
              </section>
            </div>
          )
        }
      </Shown>
    </>
  );
}
