import { useState } from "preact/hooks";
import { type ArsenalClient, isArsenalError } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { Failure } from "./failure.tsx";
import { Log } from "./log.tsx";
import { readPairs, splitCommand } from "./read-text.ts";

type AddOptions = NonNullable<Parameters<ArsenalClient["addMcpServer"]>[1]>;

/** A kind of source to add: the fields of its form, and the request. `pairs` are its headers or its environment. */
interface Kind {
  readonly title: string;
  readonly target: string;
  readonly example: string;
  readonly pairs: "headers" | "environment";
  readonly writesLog: boolean;
  add(given: FormInput, options: AddOptions): Promise<number>;
}

interface FormInput {
  readonly name: string;
  readonly target: string;
  readonly pairs: Readonly<Record<string, string>> | undefined;
}

const KINDS: readonly Kind[] = [
  {
    title: "MCP server over HTTP",
    target: "Address",
    example: "https://mcp.example.com/mcp",
    pairs: "headers",
    writesLog: true,
    add({ name, target: url, pairs: headers }, options) {
      const kind = /^wss?:/i.test(url) ? "websocket" : "http";
      return gateway().addMcpServer({ name, transport: { kind, url, ...(headers && { headers }) } }, options);
    },
  },
  {
    title: "MCP server as a command",
    target: "Command",
    example: 'npx -y @modelcontextprotocol/server-filesystem "/home/ada/my files"',
    pairs: "environment",
    writesLog: true,
    async add({ name, target, pairs: env }, options) {
      const [command = "", ...args] = splitCommand(target);
      return gateway().addMcpServer(
        { name, transport: { kind: "stdio", command, args, ...(env && { env }) } },
        options,
      );
    },
  },
  {
    title: "OpenAPI document",
    target: "Address or file",
    example: "https://api.example.com/openapi.json",
    pairs: "headers",
    writesLog: false,
    add: ({ name, target: document, pairs: headers }, options) =>
      gateway().addOpenApi({ name, document, ...(headers && { headers }) }, options),
  },
  {
    title: "A2A agent",
    target: "Address",
    example: "https://agent.example.com",
    pairs: "headers",
    writesLog: false,
    add: ({ name, target: url, pairs: headers }, options) =>
      gateway().addA2aAgent({ name, url, ...(headers && { headers }) }, options),
  },
];

const HINTS: Readonly<Record<Kind["pairs"], string>> = {
  headers: "One NAME=value per line. env:NAME as the value is a secret of the gateway's environment.",
  environment: "One NAME=value per line. The program gets these and little else. env:NAME as the value is a secret.",
};

/** The outcome of the last attempt. */
interface Attempt {
  readonly name: string;
  readonly kind: Kind;
  /** Cancels it. Omitted once it has ended. */
  readonly running?: AbortController;
  readonly error?: unknown;
  readonly done?: string;
}

/** A form to add a server, a document or an agent, with the server's log while it connects. */
export function AddServer({ onAdded }: { onAdded(): void }) {
  const [kind, setKind] = useState(KINDS[0] as Kind);
  const [attempt, setAttempt] = useState<Attempt>();
  const running = attempt?.running;

  async function add(form: HTMLFormElement): Promise<void> {
    const data = new FormData(form);
    const read = (field: string): string => String(data.get(field)).trim();
    const name = read("name");
    const controller = new AbortController();
    const { signal } = controller;
    try {
      const given = { name, target: read("target"), pairs: readPairs(read("pairs"), kind.pairs) };
      setAttempt({ name, kind, running: controller });
      const tools = await kind.add(given, { signal });
      setAttempt({ name, kind, done: `${name} was added with ${tools === 1 ? "1 tool" : `${tools} tools`}.` });
      form.reset();
    } catch (error) {
      const done = `Cancelled. ${name} was not added.`;
      setAttempt({ name, kind, ...(signal.aborted ? { done } : { error }) });
    }
    onAdded();
  }

  const { error } = attempt ?? {};
  // A server that was not started has no log, and another one may have its name.
  const failed = isArsenalError(error) && error.code === "SOURCE_UNAVAILABLE";
  return (
    <form
      class="card"
      aria-labelledby="add-server"
      onSubmit={(event) => {
        event.preventDefault();
        void add(event.currentTarget);
      }}
    >
      <h2 id="add-server">Add a server</h2>
      <fieldset class="choice">
        <legend class="dim">What is it?</legend>
        {KINDS.map((each) => (
          <label key={each.title}>
            <input type="radio" name="kind" checked={each === kind} onChange={() => setKind(each)} /> {each.title}
          </label>
        ))}
      </fieldset>
      <div class="filters">
        <label class="field">
          Name
          <input
            name="name"
            required
            pattern="[A-Za-z][A-Za-z0-9_\-]*"
            title="Begin with a letter, then use letters, digits, _ and -."
            autocomplete="off"
            placeholder="github"
          />
        </label>
        <label class="field wide">
          {kind.target}
          <input name="target" required autocomplete="off" spellcheck={false} placeholder={kind.example} />
        </label>
      </div>
      <label class="field" key={kind.pairs}>
        {kind.pairs === "headers" ? "Headers" : "Environment"} (optional)
        <textarea name="pairs" rows={2} spellcheck={false} aria-describedby="pairs-hint" />
        <small id="pairs-hint">{HINTS[kind.pairs]}</small>
      </label>
      <div class="actions">
        <button type="submit" disabled={running !== undefined}>
          Add
        </button>
        {running && (
          <>
            <button type="button" class="quiet" onClick={() => running.abort()}>
              Cancel
            </button>
            <progress aria-label={`Connecting ${attempt.name}`} />
          </>
        )}
        <span aria-live="polite">
          {running && <span class="dim">Connecting {attempt.name}…</span>}
          {attempt?.done !== undefined && <span class="good">{attempt.done}</span>}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {attempt?.kind.writesLog === true && (running || failed) && <Log key={attempt.name} name={attempt.name} />}
    </form>
  );
}
