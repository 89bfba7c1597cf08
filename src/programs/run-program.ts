import { callerKey } from "../base/shares.ts";
import { nearest } from "../errors/show-value.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { RunContext, RunEnd, Runner, StepResult } from "../runs/run.ts";
import type { Tool } from "../tool/tool.ts";
import { parseForeign } from "../base/json/json-text.ts";
import { declarationOf } from "./declarations.ts";
import type { ProgramNames } from "./names.ts";
import type { GuestCall, GuestReply, ProgramBounds, ProgramHost, ProgramOutcome } from "./program.ts";
import { createReplayOrder } from "./replay-order.ts";
import { withGivenInput } from "./saved/program-input.ts";
import { type LearnedResults, toProgramText, toProgramValue } from "./results.ts";

export interface ProgramWork {
  readonly code: string;
  /** JSON data for the program's `input`, in place of the value that the program declares. */
  readonly input?: unknown;
  /** Ids of the only tools that the program may call. Defaults to all tools that its caller may call. */
  readonly tools?: readonly string[];
}

/** The stored outcome of a program. */
export interface ProgramValue {
  readonly value?: unknown;
  readonly logs: readonly string[];
  readonly truncated?: string;
}

/** The number of results per program from which the type of a tool's result is learned. */
const LEARNED_FROM = 3;

/** In milliseconds. */
const LONGEST_SLEEP_MS = 60_000;

/** Runs programs. Every call goes through the run and so through `execute`. */
export function programRunner(parts: {
  readonly host: () => ProgramHost;
  readonly bounds: ProgramBounds;
  readonly clock: Clock;
  readonly namesOf: (principal: Principal, toolset: string | undefined) => Promise<ProgramNames>;
  readonly learned: LearnedResults;
}): Runner {
  const { host, bounds, clock, namesOf, learned } = parts;

  return async (work, context) => {
    const { code: written, input, tools } = work as ProgramWork;
    const code = input === undefined ? written : withGivenInput(written);
    const names = await namesOf(context.owner, context.toolset);
    const occurrences = new Map<string, number>();
    const learnedFrom = new Map<string, number>();
    const queue: GuestCall[] = [];
    let outbox: GuestReply[] = [];
    let inFlight = 0;
    let pending = 0;
    let waiting = 0;
    let isIdle = false;
    let isSuspended = false;
    let failure: unknown;

    const flush = (): void => {
      if (outbox.length === 0) return look();
      // Results that arrive while the program computes are sent together later.
      if (!isIdle) return;
      const replies = outbox;
      outbox = [];
      isIdle = false;
      program.reply(replies);
    };
    const order = createReplayOrder(context.recorded, (reply) => {
      outbox.push(reply);
      // Results that arrive at about the same time share a message.
      if (outbox.length > 1) return;
      if (inFlight > 1) setImmediate(flush);
      else void Promise.resolve().then(flush);
    });

    const program = host().start({
      code,
      namespaces: names.usedIn(code),
      ...(input !== undefined && { input }),
      bounds,
      seed: context.id,
      now: context.startedAt,
      signal: context.signal,
      caller: callerKey(context.owner),
      depth: context.depth,
      onCalls(calls, count) {
        waiting = count;
        isIdle = true;
        for (const call of calls) queue.push(call);
        pump();
        flush();
      },
    });
    const cancelTimer = clock.after(bounds.timeoutS * 1_000, () =>
      program.stop(`The program did not end within ${bounds.timeoutS} s.`),
    );

    function pump(): void {
      while (inFlight < bounds.parallelCalls) {
        const call = queue.shift();
        if (call === undefined) return;
        inFlight++;
        answer(call).catch((error: unknown) => {
          failure ??= error;
          program.stop("A call could not be made.");
        });
      }
    }

    /** Returns the key of a call. It depends on the tool and arguments, not on the time, because parallel calls may end in any order. */
    function keyOf({ tool, args }: GuestCall): string {
      const text = `${tool}\n${args}`;
      const count = (occurrences.get(text) ?? 0) + 1;
      occurrences.set(text, count);
      return `${count}\n${text}`;
    }

    async function answer(call: GuestCall): Promise<void> {
      const key = keyOf(call);
      const reply = call.tool === "sleep" ? await slept(key, call, context) : await made(key, call);
      inFlight--;
      if (reply === undefined) pending++;
      else order.add(key, reply);
      pump();
      look();
    }

    /** Returns the reply to a call of a tool; undefined if the call waits for approval. */
    async function made(key: string, { id, tool: called, args }: GuestCall): Promise<GuestReply | undefined> {
      const tool = names.find(called);
      if (tools !== undefined && tool !== undefined && !tools.includes(tool.id)) return refused(id, tool.id, tools);
      const ended = await context.call(key, { toolName: tool?.id ?? called, arguments: toArguments(args) });
      if (ended.status === "pending_confirmation") return undefined;
      const now = Math.round(ended.endedAt);
      if (ended.status !== "success") {
        const { code: errorCode, message } = errorOf(ended);
        const declaration = tool && declarationOf(tool, learned.typeOf(tool, context.owner));
        const isAboutArguments = errorCode === "ARGUMENTS_INVALID" || errorCode === "CALL_INVALID";
        const isHelped = isAboutArguments && declaration !== undefined;
        const help = isHelped ? `${message}\n${declaration}` : message;
        return { id, now, error: { message: help, status: ended.status, ...(errorCode && { code: errorCode }) } };
      }
      const value = toProgramValue(ended.result);
      if (tool !== undefined && ended.recorded !== true) learn(tool, value);
      return { id, now, value: toProgramText(value) };
    }

    function learn(tool: Tool, value: unknown): void {
      const count = (learnedFrom.get(tool.id) ?? 0) + 1;
      if (count > LEARNED_FROM) return;
      learnedFrom.set(tool.id, count);
      learned.note(tool, context.owner, value);
    }

    /** Suspends a program that waits only for approvals. Releases replies that are held back for steps that it does not take. */
    function look(): void {
      if (isSuspended || !isIdle || inFlight > 0 || queue.length > 0 || outbox.length > 0) return;
      if (order.release()) return;
      if (pending === 0 || waiting > pending) return;
      isSuspended = true;
      program.stop("The program waits for an approval.");
    }

    try {
      const outcome = await program.ended;
      if (failure !== undefined) throw failure;
      return isSuspended ? { status: "waiting" } : toEnd(outcome, names);
    } finally {
      cancelTimer();
    }
  };
}

async function slept(key: string, { id, args }: GuestCall, { pause }: RunContext): Promise<GuestReply> {
  const ms = Number(parseForeign(args));
  const endedAt = await pause(key, Math.min(Math.max(0, ms || 0), LONGEST_SLEEP_MS));
  return { id, now: Math.round(endedAt), value: undefined };
}

/** Returns the reply to a call of a tool that the program was not saved with. */
function refused(id: number, tool: string, tools: readonly string[]): GuestReply {
  const message = `${tool} is not among the tools that this program was saved with: ${tools.join(", ") || "none"}. Save it again to call others.`;
  return { id, now: 0, error: { message, code: "PERMISSION_DENIED", status: "permission_denied" } };
}

/** Arguments that cannot be parsed are refused by the call's own checks. */
function toArguments(args: string): Readonly<Record<string, unknown>> {
  return (parseForeign(args) ?? { invalid: args.slice(0, 200) }) as Readonly<Record<string, unknown>>;
}

function errorOf({ error, status }: StepResult): { readonly code?: string; readonly message: string } {
  return error ?? { message: `The call ended with the status ${status}.` };
}

function toEnd({ value, error, logs, truncated }: ProgramOutcome, names: ProgramNames): RunEnd {
  if (error !== undefined) {
    const { line } = error;
    const message = error.message + hint(error.message, names);
    return { status: "failed", error: { message, ...(line !== undefined && { line }) }, result: { logs } };
  }
  const result: ProgramValue = {
    ...(value !== undefined && { value: JSON.parse(value) as unknown }),
    logs,
    ...(truncated !== undefined && { truncated }),
  };
  return { status: "done", result };
}

/** Suggests the nearest name for an unknown name in an error message. */
function hint(message: string, names: ProgramNames): string {
  const unknown = /^ReferenceError: '?([\w$]+)'? is not defined/.exec(message)?.[1];
  if (unknown === undefined) return "";
  const all = [...names.all()];
  const near =
    all.find((name) => name.endsWith(`.${unknown}`)) ??
    nearest(unknown, new Set(all.map((name) => name.split(".")[0] as string)));
  return near === undefined ? ". Use search to find tools; programs have no other globals." : `. Did you mean ${near}?`;
}
