import { useEffect, useState } from "preact/hooks";
import { gateway } from "../gateway.ts";
import { events } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Failure } from "../parts/failure.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";

/** The ensembles, their state, and a form to add one. */
export function Servers() {
  const asked = useAsk(() => gateway().ensembles.list(), []);
  const about = events.value.filter(({ name }) => name.startsWith("ensemble-"));
  useEffect(() => void (about[0] && asked.again()), [about[0]]);
  return (
    <>
      <h1>Servers</h1>
      <Shown asked={asked}>
        {(ensembles) => (
          <Table
            caption="Servers"
            rows={ensembles}
            keyOf={({ name }) => name}
            empty="Nothing is connected yet."
            columns={[
              { title: "Name", cell: ({ name }) => <b>{name}</b> },
              { title: "Source", cell: ({ source }) => source },
              {
                title: "State",
                cell: ({ state, problem }) => (
                  <>
                    <Badge state={state} /> {problem !== undefined && <small class="bad">{problem}</small>}
                  </>
                ),
              },
              { title: "Tools", cell: ({ tools }) => tools },
              {
                title: "",
                cell: ({ name, state }) => (
                  <div class="actions">
                    {state === "disconnected" || state === "failed" ? (
                      <Action label="Connect" run={() => gateway().ensembles.connect(name)} onDone={asked.again} />
                    ) : (
                      <Action
                        label="Disconnect"
                        tone="quiet"
                        run={() => gateway().ensembles.disconnect(name)}
                        onDone={asked.again}
                      />
                    )}
                    <Action
                      label="Reload"
                      tone="quiet"
                      run={() => gateway().ensembles.reload(name)}
                      onDone={asked.again}
                    />
                  </div>
                ),
              },
            ]}
          />
        )}
      </Shown>
      <AddServer onAdded={asked.again} />
      <h2>Log</h2>
      <Table
        caption="What servers did"
        rows={about.slice(0, 50)}
        keyOf={(event) => `${event.at} ${event.name} ${JSON.stringify(event.data)}`}
        empty="Nothing happened since this page was opened."
        columns={[
          { title: "When", cell: ({ at }) => <Time at={at} /> },
          { title: "What", cell: ({ name }) => name.replace("ensemble-", "") },
          { title: "Details", cell: ({ data }) => <code>{JSON.stringify(data)}</code> },
        ]}
      />
      <p class="dim">
        Servers that are added here last until the gateway restarts. Write them into the configuration to keep them. New
        tools may wait at <a href={to("pins")}>Pins</a>.
      </p>
    </>
  );
}

function AddServer({ onAdded }: { onAdded(): void }) {
  const [said, setSaid] = useState<{ readonly error?: unknown; readonly done?: string }>({});
  async function add(form: HTMLFormElement): Promise<void> {
    const data = new FormData(form);
    const [name, address] = [String(data.get("name")).trim(), String(data.get("address")).trim()];
    const [command = "", ...args] = address.split(/\s+/);
    const transport = /^https?:/.test(address)
      ? ({ kind: "http", url: address } as const)
      : ({ kind: "stdio", command, args } as const);
    try {
      const tools = await gateway().addMcpServer({ name, transport });
      setSaid({ done: `${name} brought ${tools} tools.` });
      form.reset();
      onAdded();
    } catch (error) {
      setSaid({ error });
    }
  }
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void add(event.currentTarget);
      }}
    >
      <h2>Add an MCP server</h2>
      <div class="filters">
        <label class="field">
          Name
          <input name="name" required pattern="[A-Za-z][A-Za-z0-9_\-]*" />
        </label>
        <label class="field">
          Address or command
          <input name="address" required placeholder="https://mcp.example.com/mcp" />
        </label>
      </div>
      <button type="submit">Add</button>
      <div aria-live="polite">
        {said.error !== undefined && <Failure error={said.error} />}
        {said.done !== undefined && <p class="good">{said.done}</p>}
      </div>
    </form>
  );
}
