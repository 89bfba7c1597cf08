/**
 * An arsenal in a process of its own, driven over IPC. Its tools are `works`, `fails` (until it recovers), `holds` (until the test ends the call) and
 * `refund`, which a person must approve. Its clock can be moved. Starting a process takes longer than most tests, so the next arsenal gets it.
 */
import { internalsOf } from "../../src/arsenal.ts";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { localOperator, ToolArsenal, type ToolArsenalConfig, type ToolCall, type ToolResult } from "../../src/index.ts";
import { systemClock } from "../../src/observe/clock.ts";

interface Opening {
  readonly config: ToolArsenalConfig;
  readonly mcpUrl: string | undefined;
}

type Ask =
  | { readonly open: Opening }
  | { readonly call: ToolCall }
  | { readonly approve: string }
  | { readonly accept: string }
  | { readonly pins: true }
  | { readonly health: string }
  | { readonly advance: number }
  | { readonly recover: true }
  | { readonly end: number }
  | { readonly turns: number }
  | { readonly close: true };

/** What the process says without being asked. */
export type Said =
  | { readonly said: "holding"; readonly call: number }
  | { readonly said: "event"; readonly name: string; readonly data: unknown };

type Answer = { readonly id: number; readonly answer: unknown };

/** The process, as a test talks to it. */
export interface ArsenalProcess {
  call(call: ToolCall): Promise<ToolResult>;
  ask(ask: Ask): Promise<unknown>;
  /** Waits for something that the process says, now or later, and says once. */
  said(is: (said: Said) => boolean): Promise<Said>;
  onSaid(listener: (said: Said) => void): void;
  /** Ends it without giving it time to clean up. */
  kill(): Promise<void>;
  /** Closes the arsenal. Its process is kept for the next one. */
  close(): Promise<void>;
}

/** A process that has no arsenal now. */
interface IdleProcess {
  open(opening: Opening): Promise<ArsenalProcess>;
  end(): Promise<void>;
}

let idle: IdleProcess[] = [];

/** Opens an arsenal in a process without one, and connects it to an MCP server if there is one. */
export async function startArsenal(config: ToolArsenalConfig, mcpUrl?: string): Promise<ArsenalProcess> {
  return (idle.pop() ?? startProcess()).open({ config, mcpUrl });
}

/** Ends the processes that are kept. */
export async function endProcesses(): Promise<void> {
  const ending = idle;
  idle = [];
  await Promise.all(ending.map((each) => each.end()));
}

function startProcess(): IdleProcess {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
    env: { ...process.env, TOOLARSENAL_TIER: "lexical" },
  });
  const exited = once(child, "exit");
  const answers = new Map<number, (answer: unknown) => void>();
  let heard: Said[] = [];
  const listeners = new Set<(said: Said) => void>();
  let last = 0;
  child.on("message", (message: Said | Answer) => {
    if ("id" in message) return answers.get(message.id)?.(message.answer);
    heard.push(message);
    for (const listener of listeners) listener(message);
  });
  const ask = (wanted: Ask): Promise<unknown> =>
    new Promise((resolve) => {
      answers.set(++last, resolve);
      child.send({ id: last, wanted });
    });
  let isKilled = false;
  const started: ArsenalProcess = {
    ask,
    call: (call) => ask({ call }) as Promise<ToolResult>,
    onSaid: (listener) => void listeners.add(listener),
    said: (is) =>
      new Promise((resolve) => {
        const listener = (said: Said): void => {
          if (!is(said)) return;
          listeners.delete(listener);
          heard.splice(heard.indexOf(said), 1);
          resolve(said);
        };
        listeners.add(listener);
        const before = heard.find(is);
        if (before !== undefined) listener(before);
      }),
    async kill() {
      isKilled = true;
      child.kill("SIGKILL");
      await exited;
    },
    async close() {
      if (isKilled) return;
      await ask({ close: true });
      idle.push(kept);
    },
  };
  const kept: IdleProcess = {
    async open(opening) {
      heard = [];
      listeners.clear();
      const ended = exited.then(() => Promise.reject(new Error("It ended.")));
      await Promise.race([ask({ open: opening }), ended]);
      return started;
    },
    async end() {
      child.disconnect();
      await exited;
    },
  };
  return kept;
}

const say = (said: Said): void => void process.send?.(said);

/** An arsenal in this process. Returns what does the things that the test wants. */
async function openArsenal({ config, mcpUrl }: Opening): Promise<(wanted: Ask) => Promise<unknown>> {
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead, after: systemClock.after };
  const arsenal = new ToolArsenal({ ...config, clock });
  const holding = new Map<number, () => void>();
  let held = 0;
  let broken = true;
  const handlers: Readonly<Record<string, () => unknown>> = {
    works: () => "done",
    fails() {
      if (broken) throw new Error("broken");
      return "done";
    },
    holds: () =>
      new Promise<string>((resolve) => {
        const call = ++held;
        holding.set(call, () => resolve("held"));
        say({ said: "holding", call });
      }),
    refund: () => "refunded",
  };
  for (const [name, handler] of Object.entries(handlers))
    await arsenal.addTool(
      {
        name,
        description: `A tool that ${name} when it is called.`,
        parameters: { type: "object", properties: {} },
        requiresConfirmation: name === "refund",
      },
      handler,
    );
  if (mcpUrl !== undefined) await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: mcpUrl } });
  arsenal.subscribe(({ name, data }) => {
    if (
      name === "health-changed" ||
      name === "tool-changed" ||
      name === "tool-replaced" ||
      name === "state-unavailable"
    )
      say({ said: "event", name, data });
  });

  return async (wanted) => {
    if ("call" in wanted) return arsenal.execute(wanted.call);
    if ("approve" in wanted) return arsenal.approvals.approve(wanted.approve, localOperator({ id: "bob" }));
    if ("accept" in wanted) return arsenal.pins?.accept(wanted.accept, localOperator({ id: "bob" }));
    if ("pins" in wanted) return arsenal.pins?.list();
    if ("health" in wanted) return internalsOf(arsenal).health(wanted.health);
    if ("advance" in wanted) return void (ahead += wanted.advance);
    if ("recover" in wanted) return void (broken = false);
    if ("end" in wanted) return holding.get(wanted.end)?.();
    if ("turns" in wanted)
      for (let turn = 0; turn < wanted.turns; turn++) await new Promise((resolve) => void setImmediate(resolve));
    else await arsenal.close();
    return undefined;
  };
}

function main(): void {
  let answer: Awaited<ReturnType<typeof openArsenal>>;
  process.on("message", async ({ id, wanted }: { readonly id: number; readonly wanted: Ask }) => {
    if ("open" in wanted) answer = await openArsenal(wanted.open);
    const value = "open" in wanted ? undefined : await answer(wanted);
    if (process.connected) process.send?.({ id, answer: value });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.send !== undefined) main();
