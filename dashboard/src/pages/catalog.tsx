import { useEffect, useRef, useState } from "preact/hooks";
import type { MarkedTool, Pin } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { events, liveCalls } from "../live.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Definition } from "../parts/definition.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { HealthInWords, SHOWN_CALLS } from "../parts/health.tsx";
import type { Call } from "../parts/past-calls.ts";
import { Refused } from "../parts/refused.tsx";
import { RunTool } from "../parts/run-tool.tsx";
import { SchemaView } from "../parts/schema-view.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { place, to } from "../router.ts";

const SOURCES = ["function", "mcp", "openapi", "a2a", "descriptor", "builtin", "workflow", "program"] as const;

/** Shows every tool, or the one in the address. */
export function Catalog() {
  const [id] = place.value.rest;
  return id === undefined ? <AllTools /> : <OneTool key={id} id={id} />;
}

const PAGE = 25;

function AllTools() {
  const [source, setSource] = useState<(typeof SOURCES)[number] | "">("");
  const [namespace, setNamespace] = useState("");
  const [words, setWords] = useState("");
  const [wanted, setWanted] = useState(PAGE);
  const listing = useRef<ToolListing | undefined>(undefined);
  const asked = useAsk(
    async () => {
      const key = `${source} ${namespace}`;
      if (listing.current?.key !== key) {
        const filter = { ...(source !== "" && { source }), ...(namespace !== "" && { namespace }) };
        listing.current = {
          key,
          pages: gateway().pages({ limit: PAGE * 2, includeRefused: true, ...filter }),
          read: [],
          ended: false,
        };
      }
      return readUntil(listing.current, words.toLowerCase(), wanted).catch((error: unknown) => {
        listing.current = undefined;
        throw error;
      });
    },
    [source, namespace, words, wanted],
    { delayMs: 150 },
  );
  return (
    <>
      <h1>Catalog</h1>
      <div class="filters">
        <Field label="Contains">
          <input type="search" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </Field>
        <Field label="Namespace">
          <input value={namespace} onInput={({ currentTarget }) => setNamespace(currentTarget.value.trim())} />
        </Field>
        <Choice all label="Source" value={source} values={SOURCES} onChange={(chosen) => setSource(chosen)} />
      </div>
      <Shown asked={asked}>
        {({ tools, more }) => (
          <>
            <Table
              caption="Tools"
              rows={tools}
              keyOf={({ id }) => id}
              empty="No tools match."
              columns={[
                { title: "Tool", cell: ({ id }) => <a href={to("catalog", [id])}>{id}</a> },
                {
                  title: "Description",
                  cell: ({ description, refused }) => (
                    <>
                      <Refused refused={refused} /> {description.slice(0, 160)}
                    </>
                  ),
                },
                { title: "Source", cell: ({ source: from }) => from },
                { title: "Risk", cell: ({ riskLevel }) => riskLevel },
              ]}
            />
            {tools.length > 0 && (
              <div class="actions">
                <span class="dim">
                  Showing {tools.length === 1 ? "1 tool" : `${tools.length} tools`}
                  {more ? "." : ", which is all."}
                </span>
                {more && (
                  <button type="button" class="quiet" onClick={() => setWanted(wanted + PAGE)}>
                    More
                  </button>
                )}
              </div>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

interface ToolListing {
  readonly key: string;
  readonly pages: AsyncIterator<readonly MarkedTool[]>;
  readonly read: MarkedTool[];
  ended: boolean;
}

/** Reads pages until enough tools contain the words. One tool more than wanted shows that there are more. */
async function readUntil(listing: ToolListing, words: string, wanted: number) {
  const found = (): MarkedTool[] =>
    listing.read.filter(({ id, description }) => `${id} ${description}`.toLowerCase().includes(words));
  while (!listing.ended && found().length <= wanted) {
    const next = await listing.pages.next();
    if (next.done === true) listing.ended = true;
    else listing.read.push(...next.value);
  }
  return { tools: found().slice(0, wanted), more: found().length > wanted };
}

function OneTool({ id }: { readonly id: string }) {
  const dot = id.indexOf(".");
  const asked = useAsk(async () => {
    const [tool, health, pins] = await Promise.all([
      gateway().getTool(id.slice(dot + 1), id.slice(0, dot), { includeRefused: true }),
      gateway().health(id, { includeRefused: true }),
      // Only operators and approvers may read pins.
      may("listPins")
        ? gateway()
            .pins.list({ id })
            .catch(() => [])
        : [],
    ]);
    return { tool, health, pin: pins[0] };
  }, [id]);
  const past = useAsk(() => pastCalls(id), [id]);
  const about = events.value.filter(({ data }) => "toolId" in data && data.toolId === id);
  useEffect(() => void (about[0] && asked.again()), [about[0]]);
  const live = liveCalls.value.filter(({ toolId }) => toolId === id);
  const heard = new Set(live.map(({ spanId }) => spanId));
  const calls = [...live, ...(past.answer ?? []).filter(({ spanId }) => !heard.has(spanId))];
  return (
    <>
      <p>
        <a href={to("catalog")}>← Catalog</a>
      </p>
      <Shown asked={asked}>
        {({ tool, health, pin }) =>
          tool === undefined ? (
            <p>There is no tool "{id}".</p>
          ) : (
            <div class="columns">
              <section>
                <h1>{tool.title ?? tool.name}</h1>
                <p>
                  <code>{tool.id}</code> <span class="badge">{tool.source}</span>{" "}
                  <span class="badge">risk: {tool.riskLevel}</span>
                </p>
                {tool.refused && (
                  <p>
                    <Refused refused={tool.refused} /> {tool.refused.reason}
                  </p>
                )}
                <p>{tool.description}</p>
                <h2>Health</h2>
                {past.loading && past.answer === undefined ? (
                  <p class="dim">Loading…</p>
                ) : (
                  <HealthInWords health={health} calls={calls} isComplete={past.answer !== undefined} />
                )}
                {pin && <PinInWords pin={pin} />}
                <h2>Parameters</h2>
                <SchemaView schema={tool.parameters} />
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

/** Returns the latest calls of a tool, newest first. Undefined without a history, or if the user may not see it. */
async function pastCalls(tool: string): Promise<readonly Call[] | undefined> {
  if (!may("listHistory") || !(await gateway().stats()).keeps.history) return undefined;
  const { records } = await gateway().history.list({ kind: "call", tool, limit: SHOWN_CALLS });
  return records.filter((record) => record.kind === "call");
}

function PinInWords({ pin: { state, acceptedBy, seenAt, hash } }: { readonly pin: Pin }) {
  return (
    <>
      <h2>Pin</h2>
      <p>
        <Badge state={state} />{" "}
        {state === "accepted" ? (
          <>
            Accepted {acceptedBy === undefined ? "when it was first seen" : `by ${acceptedBy}`}, <Time at={seenAt} />.
            Hash <code>{hash.slice(0, 12)}</code>.
          </>
        ) : (
          <>
            Its server says something else since <Time at={seenAt} />. Compare and accept it at{" "}
            <a href={to("pins")}>Pins</a>.
          </>
        )}
      </p>
    </>
  );
}
