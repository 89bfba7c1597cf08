import { useId, useState } from "preact/hooks";
import type { RegistryOption, RegistryServer, RegistryTrial } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Failure } from "../parts/failure.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { go, place, to } from "../router.ts";

/** Searches the registries for servers, and adds one. Registries are contacted when the search is submitted, not while typing. */
export function AddServers() {
  const query = place.value.query.get("q") ?? "";
  const chosen = place.value.query.get("server") ?? "";
  const [text, setText] = useState(query);
  return (
    <>
      <h1>Add servers</h1>
      <form
        class="card"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") go(to("add", [], { q: text.trim() }));
        }}
      >
        <Field label="What do you need a server for?">
          <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </Field>
        <div class="actions">
          <button type="submit">Search the registries</button>
        </div>
      </form>
      {chosen !== "" ? (
        <ChosenServer key={chosen} name={chosen} query={query} />
      ) : (
        query !== "" && <Results key={query} query={query} />
      )}
    </>
  );
}

function Results({ query }: { readonly query: string }) {
  const asked = useAsk((signal) => gateway().registries.search(query, { limit: 20, signal }), [query]);
  return (
    <Shown asked={asked}>
      {({ servers, remarks }) => (
        <>
          {remarks.map((remark) => (
            <p key={remark} class="bad" role="alert">
              {remark}
            </p>
          ))}
          {servers.length === 0 && <p class="dim">No server was found.</p>}
          {servers.map((server) => (
            <Result key={`${server.registry} ${server.name}`} server={server} query={query} />
          ))}
        </>
      )}
    </Shown>
  );
}

function Result({ server, query }: { readonly server: RegistryServer; readonly query: string }) {
  const id = useId();
  return (
    <article class="card" aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{server.title ?? server.name}</h2>
        {server.status !== "active" && <Badge state={server.status} />}
        <span class="dim">
          {server.name} {server.version}, {server.kinds.join(", ") || "no package"}
        </span>
        <div class="actions">
          <a
            class="button"
            href={to("add", [], { q: query, server: server.name })}
            aria-label={`Choose ${server.name}`}
          >
            Choose
          </a>
        </div>
      </div>
      <p>{server.description}</p>
    </article>
  );
}

/** One server: its origin, its packages, a form for its inputs, and the result of a trial. */
function ChosenServer({ name, query }: { readonly name: string; readonly query: string }) {
  const asked = useAsk((signal) => gateway().registries.get(name, { signal }), [name]);
  return (
    <Shown asked={asked}>
      {(server) => (
        <article class="card" aria-label={server.name}>
          <h2>{server.title ?? server.name}</h2>
          <p>{server.description}</p>
          <Table
            caption="Origin"
            empty=""
            rows={originOf(server)}
            keyOf={([what]) => what}
            columns={[
              { title: "What", cell: ([what]) => what },
              { title: "Value", cell: ([, value]) => value },
            ]}
          />
          <TryServer name={server.name} options={server.options} />
          <p>
            <a href={to("add", [], { q: query })}>Back to the results</a>
          </p>
        </article>
      )}
    </Shown>
  );
}

function originOf(
  server: RegistryServer & { readonly versions: readonly string[] },
): readonly (readonly [string, string])[] {
  return [
    ["Name", server.name],
    ["Publisher", server.publisher],
    ["Version", `${server.version}${server.publishedAt === undefined ? "" : `, ${server.publishedAt.slice(0, 10)}`}`],
    ["Versions", server.versions.slice(0, 10).join(", ")],
    ["Registry", server.registry],
    ["Status", `${server.status}${server.statusMessage === undefined ? "" : `: ${server.statusMessage}`}`],
    ["Repository", server.repository ?? "not given"],
  ];
}

interface TrialState {
  readonly running?: AbortController;
  readonly trial?: RegistryTrial;
  readonly error?: unknown;
}

function TryServer({ name, options }: { readonly name: string; readonly options: readonly RegistryOption[] }) {
  const usable = options.filter(({ missing }) => missing === undefined);
  const [kind, setKind] = useState(usable[0]?.kind ?? "");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [state, setState] = useState<TrialState>({});
  const option = usable.find((each) => each.kind === kind);
  const { running, trial, error } = state;

  async function send(confirm: boolean): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    setState({ running: controller, ...(trial !== undefined && { trial }) });
    const inputs = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    const checksum = confirm ? trial?.checksum : undefined;
    try {
      const asked = { name, kind, inputs, confirm, ...(checksum !== undefined && { checksum }) };
      setState({ trial: await gateway().registries.add(asked, { signal }) });
    } catch (failure) {
      setState(signal.aborted ? {} : { error: failure });
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send(false);
      }}
    >
      {options.map((each) => (
        <p key={`${each.kind} ${each.label}`} class="dim">
          {each.kind}: {each.label} {each.missing !== undefined && <span class="bad">{each.missing}</span>}
        </p>
      ))}
      {usable.length > 1 && (
        <Choice
          label="Package"
          value={kind}
          values={[...new Set(usable.map((each) => each.kind))]}
          onChange={setKind}
        />
      )}
      {option?.inputs.map((input) => (
        <Field
          key={input.key}
          label={`${input.key}${input.required ? " (required)" : ""}${input.description === undefined ? "" : `: ${input.description}`}`}
        >
          <input
            {...(input.secret ? { type: "password" as const } : { type: "text" as const })}
            autocomplete="off"
            required={input.required && input.default === undefined}
            placeholder={input.default ?? ""}
            value={values[input.key] ?? ""}
            onInput={({ currentTarget }) => setValues({ ...values, [input.key]: currentTarget.value })}
          />
        </Field>
      ))}
      <div class="actions">
        <button type="submit" disabled={running !== undefined || option === undefined || !may("addRegistryServer")}>
          Check it
        </button>
        {running && (
          <>
            <button type="button" class="quiet" onClick={() => running.abort()}>
              Cancel
            </button>
            <progress aria-label={`Checking ${name}`} />
          </>
        )}
        {trial?.persisted === false && !running && (
          <button type="button" onClick={() => void send(true)}>
            Add {trial.name} to the configuration
          </button>
        )}
      </div>
      <div aria-live="polite">
        {error !== undefined && <Failure error={error} />}
        {trial !== undefined && <Trial trial={trial} />}
      </div>
    </form>
  );
}

function Trial({ trial }: { readonly trial: RegistryTrial }) {
  return (
    <section aria-label="What the server says">
      {trial.persisted && (
        <p class="good">
          {trial.name} was added. See <a href={to("servers")}>Servers</a>; new tools may wait at{" "}
          <a href={to("pins")}>Pins</a>.
        </p>
      )}
      <p class="dim">
        {trial.kind} {trial.package}
        {trial.checksum !== undefined && `, ${trial.checksum.slice(0, 26)}…`}
      </p>
      {trial.remarks.map((remark) => (
        <p key={remark} class="dim">
          {remark}
        </p>
      ))}
      {trial.needsSignIn === true && <p>It wants you to sign in before it lists its tools.</p>}
      {trial.findings.map(({ subject, severity, message, excerpt }) => (
        <p key={`${subject} ${excerpt}`} class="bad">
          {severity}: {subject}: {message} “{excerpt}”
        </p>
      ))}
      <Table
        caption="Its tools"
        rows={trial.tools}
        keyOf={(tool) => tool.name}
        empty="It has no tools."
        columns={[
          { title: "Tool", cell: (tool) => tool.name },
          { title: "Purpose", cell: (tool) => tool.description },
        ]}
      />
    </section>
  );
}
