/**
 * An arsenal in a process of its own, told what to do over IPC. Its tools are `works`, `fails` (until it is told to recover), `holds` (until
 * it is told to end) and `refund`, which a person must approve. Its clock can be moved.
 */
import { internalsOf } from "../../src/arsenal.ts";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { localOperator, ToolArsenal, type ToolArsenalConfig, type ToolCall, type ToolResult } from "../../src/index.ts";
import { systemClock } from "../../src/observe/clock.ts";

type Ask =
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
  | { readonly said: "ready" }
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
  close(): Promise<void>;
}

/** Starts a process with an arsenal, and connects it to an MCP server if there is one. */
export async function startArsenal(config: ToolArsenalConfig, mcpUrl?: string): Promise<ArsenalProcess> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [JSON.stringify({ config, mcpUrl })], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
    env: { ...process.env, TOOLARSENAL_TIER: "lexical" },
  });
  const exited = once(child, "exit");
  const answers = new Map<number, (answer: unknown) => void>();
  const heard: Said[] = [];
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
      child.kill("SIGKILL");
      await exited;
    },
    async close() {
      if (child.connected) void ask({ close: true });
      await exited;
    },
  };
  await Promise.race([
    started.said(({ said }) => said === "ready"),
    exited.then(() => Promise.reject(new Error("It ended."))),
  ]);
  return started;
}

async function main(given: { readonly config: ToolArsenalConfig; readonly mcpUrl?: string }): Promise<void> {
  const say = (said: Said): void => void process.send?.(said);
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead, after: systemClock.after };
  const arsenal = new ToolArsenal({ ...given.config, clock });
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
  if (given.mcpUrl !== undefined)
    await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: given.mcpUrl } });
  arsenal.subscribe(({ name, data }) => {
    if (
      name === "health-changed" ||
      name === "tool-changed" ||
      name === "tool-replaced" ||
      name === "state-unavailable"
    )
      say({ said: "event", name, data });
  });

  async function answer(wanted: Ask): Promise<unknown> {
    if ("call" in wanted) return arsenal.execute(wanted.call);
    if ("approve" in wanted) return arsenal.approvals.approve(wanted.approve, localOperator({ id: "bob" }));
    if ("accept" in wanted) return arsenal.pins?.accept(wanted.accept, localOperator({ id: "bob" }));
    if ("pins" in wanted) return arsenal.pins?.list();
    if ("health" in wanted) return internalsOf(arsenal).health(wanted.health);
    if ("advance" in wanted) return void (ahead += wanted.advance);
    if ("recover" in wanted) return void (broken = false);
    if ("end" in wanted) return holding.get(wanted.end)?.();
    if ("turns" in wanted) {
      for (let turn = 0; turn < wanted.turns; turn++) await new Promise((resolve) => void setImmediate(resolve));
      return undefined;
    }
    await arsenal.close();
    process.disconnect();
    return undefined;
  }

  process.on("message", ({ id, wanted }: { readonly id: number; readonly wanted: Ask }) => {
    void answer(wanted).then((value) => process.connected && process.send?.({ id, answer: value }));
  });
  say({ said: "ready" });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.send !== undefined)
  await main(JSON.parse(process.argv[2] ?? "{}"));
