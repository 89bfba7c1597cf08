import { randomUUID } from "node:crypto";
import type { Ask } from "../../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError, type RpcNotification } from "../../../mcp/protocol.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { unaskable } from "../client-abilities.ts";
import type { Exchange } from "../plane.ts";
import type { Work } from "../../work.ts";
import type { Replica } from "../../replica.ts";
import { createMcpRoom, type McpRoom } from "../room.ts";
import { createOpenSet } from "../../../base/open-entries.ts";
import type { Share } from "../../../base/shares.ts";
import type { SealBinding } from "./seal.ts";

/** The request that currently carries a call's notifications and answer. */
export interface Carrier {
  readonly capabilities: JsonObject;
  /** The token for progress notifications of this request. */
  readonly progressToken: unknown;
  notify(notification: RpcNotification): void;
}

/** A request's part in a call: the first request starts the call, and each repeat continues it. */
export interface Leg {
  /** The call's result, or the requests that the client must answer first. */
  readonly answer: Promise<JsonObject>;
  /** Cancels the call, if this request still carries it. By default, the reason is a cancellation by the client. */
  cancel(reason?: ArsenalError): void;
}

/** The channel of a running call. `params` are the params of the request that started it. */
type CallChannel = Pick<Exchange, "params" | "signal" | "abort" | "notify" | "ask" | "resumed">;
type Run = (channel: CallChannel) => Promise<JsonObject>;

export interface ModernRequestsOptions {
  /** The processes that share a state: a repeat may reach any of them. */
  readonly replica: Replica;
  /** The open work of the gateway. While it drains, new requests are refused. Requests that other processes run for this one also count as work. */
  readonly work: Pick<Work, "run" | "draining" | "retryAfterS">;
  /** Shared by all addresses of the gateway. Defaults to a new room. */
  readonly room?: McpRoom;
  readonly clock?: Clock;
}

interface Question extends Pick<PromiseWithResolvers<JsonObject>, "resolve" | "reject"> {
  readonly request: JsonObject;
  /** Set if any process can restart the call from this question. */
  readonly resume: JsonObject | undefined;
}

interface OngoingCall {
  /** Continues a call that waits for its client, with the client's answers. Throws if the call does not wait for these answers. */
  goOn(round: unknown, inputResponses: unknown, carrier: Carrier): Leg;
  end(message: string): void;
}

interface CallStart extends Pick<CallChannel, "params" | "resumed"> {
  /** The number of questions that the call has already sent. */
  readonly asked?: number;
}

/** Requests that a server may answer with `input_required`. */
const MAY_ASK: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);
/** Prefix of the state of a suspended call. A plane seals other texts with the same key. */
const MARK = "call.";
const KEPT_NOTIFICATIONS = 100;
const KEPT_CHARACTERS = 262_144;
/** How long a call waits for its client, which is also the lifetime of its sealed state. */
const LONGEST_WAIT_MS = 600_000;

/**
 * Carries the calls of modern clients over several requests. A call that can be restarted from its question is sealed and kept by the client. Any
 * other call waits in this process, and other processes pass the answers to it.
 */
export function createSuspendedCalls(plane: string, options: ModernRequestsOptions) {
  const { replica, work, room = createMcpRoom(), clock = systemClock } = options;
  const { seal } = replica;
  const live = createOpenSet<OngoingCall>();
  const waiting = new Map<string, OngoingCall>();
  /** Repeats that were passed to other processes. */
  const elsewhere = new Set<AbortController>();
  const kind = `call/${plane}`;
  const stopServing = replica.serve(kind, (body, { signal, note }) => {
    const { capabilities, progressToken } = body;
    const notify = (sent: RpcNotification): void => note({ ...sent });
    const leg = goOn(body, { capabilities: capabilities as JsonObject, progressToken, notify });
    signal.addEventListener("abort", () => leg.cancel(), { once: true });
    return leg.answer;
  });

  function start(binding: SealBinding, first: Carrier, run: Run, { params, resumed, asked = 0 }: CallStart): Leg {
    const controller = new AbortController();
    const abort = (reason: unknown): void => controller.abort(reason);
    const questions = new Map<string, Question>();
    /** Notifications that were sent while no request was open. They are sent with the next repeat. */
    const kept: RpcNotification[] = [];
    let keptLength = 0;
    let carrier: (Carrier & Pick<Question, "resolve" | "reject">) | undefined;
    let { capabilities } = first;
    let outcome: { readonly result: JsonObject } | { readonly error: unknown } | undefined;
    /** Set when the call is first suspended. */
    let id: string | undefined;
    let questionCount = asked;
    let currentRound = 0;
    let isScheduled = false;
    let stopWaiting: (() => void) | undefined;
    let share: Share | undefined;
    const call: OngoingCall = { goOn: goOnWith, end };

    function carry(next: Carrier): Leg {
      const { promise: answer, resolve, reject } = Promise.withResolvers<JsonObject>();
      const own = { ...next, resolve, reject };
      carrier = own;
      ({ capabilities } = next);
      const cancel = (reason?: ArsenalError): void => {
        if (carrier === own) endWith(reason ?? byClient());
      };
      return { answer, cancel };
    }

    function end(message: string): void {
      endWith(cancelled(message));
    }

    function endWith(error: ArsenalError): void {
      forget();
      carrier?.reject(error);
      carrier = undefined;
      controller.abort(error);
      for (const question of questions.values()) question.reject(error);
    }

    function forget(): void {
      leave();
      stopWaitingForClient();
    }

    function stopWaitingForClient(): void {
      if (id !== undefined) waiting.delete(id);
      stopWaiting?.();
      share?.release();
    }

    function notify(notification: RpcNotification): void {
      if (carrier === undefined) {
        const { length } = JSON.stringify(notification);
        if (kept.length >= KEPT_NOTIFICATIONS || keptLength + length > KEPT_CHARACTERS) return;
        keptLength += length;
        kept.push(notification);
        return;
      }
      const { progressToken } = carrier;
      if (notification.method !== "notifications/progress" || progressToken === first.progressToken)
        carrier.notify(notification);
      else if (progressToken !== undefined)
        carrier.notify({ ...notification, params: { ...notification.params, progressToken } });
    }

    const ask: Ask = (method, asking, { signal, resume }) => {
      const refused = MAY_ASK.has(binding.method)
        ? unaskable(method, asking, { era: "modern", capabilities })
        : new RpcError({ code: RPC.internalError, message: `A client cannot be asked during ${binding.method}.` });
      if (refused !== undefined) return Promise.reject(refused);
      const ended = [signal, controller.signal].find(({ aborted }) => aborted);
      if (ended !== undefined) return Promise.reject(ended.reason as Error);
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      const key = `input-${++questionCount}`;
      const withdraw = (): void => reject(signal.reason);
      signal.addEventListener("abort", withdraw, { once: true });
      questions.set(key, { request: { method, ...(asking && { params: asking }) }, resume, resolve, reject });
      schedule();
      return promise.finally(() => {
        questions.delete(key);
        signal.removeEventListener("abort", withdraw);
      });
    };

    /** Collects simultaneous questions into one answer. */
    function schedule(): void {
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        const [question, another] = questions.values();
        if (question?.resume !== undefined && another === undefined && carrier !== undefined)
          return handOver(question.resume);
        const entering = replica.enter();
        if (entering === undefined) return suspend();
        // If the store is unavailable, the call can still be continued in this process.
        void entering.catch(() => undefined).then(suspend);
      });
    }

    /** Gives the client the sealed data that restarts the call, and removes the call here. */
    function handOver(resume: JsonObject): void {
      const { requestState, inputResponses } = params;
      answerWith({ resume, asked: questionCount - 1, given: { requestState, inputResponses } });
      end("The call continues when the client repeats the request.");
    }

    function suspend(): void {
      if (carrier === undefined || questions.size === 0) return;
      share = room.suspended.take(binding.principal, {
        bytes: JSON.stringify(params).length,
        isInUse: () => true,
        giveWay: () => end("The call was dropped to make room for callers with fewer waiting calls."),
      });
      if (share === undefined) {
        const message = "Too many calls wait for their clients' answers. Retry later.";
        for (const question of questions.values()) question.reject(new RpcError({ code: RPC.internalError, message }));
        return;
      }
      id ??= randomUUID();
      currentRound += 1;
      if (!answerWith({ call: id, round: currentRound, owner: replica.id })) return share.release();
      waiting.set(id, call);
      const endLate = (): void => end("The client did not answer in time.");
      stopWaiting = clock.after(LONGEST_WAIT_MS, endLate, { background: true });
    }

    /** Answers the current request with the open questions. Returns false if that failed, which ends the call. */
    function answerWith(state: JsonObject): boolean {
      let requestState: string;
      try {
        requestState = MARK + seal.seal(state, binding);
      } catch {
        end("The call could not be suspended.");
        return false;
      }
      const inputRequests = Object.fromEntries([...questions].map(([key, { request }]) => [key, request]));
      carrier?.resolve({ resultType: "input_required", inputRequests, requestState });
      carrier = undefined;
      return true;
    }

    /** Passes the outcome to the current request. Without a request, the outcome is kept for the next repeat. */
    function settle(): void {
      if (carrier === undefined || outcome === undefined) return;
      forget();
      if ("result" in outcome) carrier.resolve(outcome.result);
      else carrier.reject(outcome.error);
      carrier = undefined;
    }

    function goOnWith(round: unknown, inputResponses: unknown, next: Carrier): Leg {
      if (round !== currentRound) throw invalidState();
      stopWaitingForClient();
      const leg = carry(next);
      for (const notification of kept.splice(0)) notify(notification);
      keptLength = 0;
      for (const [key, question] of questions) {
        const response = responseTo(key, inputResponses);
        if (response !== undefined) question.resolve(response);
      }
      // Sends open questions again, unless the received answers let the call finish first.
      schedule();
      settle();
      return leg;
    }

    const leave = live.add(call);
    const leg = carry(first);
    run({ params, signal: controller.signal, abort, notify, ask, ...(resumed && { resumed }) })
      .then(
        (result) => (outcome = { result }),
        (error: unknown) => (outcome = { error }),
      )
      .then(settle);
    return leg;
  }

  function goOn({ call: id, round, inputResponses }: JsonObject, carrier: Carrier): Leg {
    const call = typeof id === "string" ? waiting.get(id) : undefined;
    if (call === undefined) throw invalidState();
    return call.goOn(round, inputResponses, carrier);
  }

  /** Passes a repeat to the process in which its call waits. */
  function passOn(to: string, body: JsonObject, { notify: tell, ...carrier }: Carrier): Leg {
    const controller = new AbortController();
    elsewhere.add(controller);
    const run = (signal: AbortSignal): Promise<JsonObject> =>
      replica.call(to, kind, { ...body, ...carrier }, { signal, note: (sent) => tell(sent as never) });
    const answer = work.run(controller.signal, run).finally(() => elsewhere.delete(controller));
    return { answer, cancel: (reason = byClient()) => controller.abort(reason) };
  }

  return {
    /** Starts a call, or continues the call that `requestState` names. Throws an `RpcError` if that state, or the answers with it, are invalid. */
    handle(given: SealBinding, carrier: Carrier, run: Run): Leg {
      const { requestState, inputResponses = {}, ...others } = given.params;
      // The plane may seal with the same key, but its texts must not open here.
      const binding = { ...given, plane: kind };
      const isOwn = typeof requestState === "string" && requestState.startsWith(MARK);
      if (!isOwn || !seal.owns(requestState.slice(MARK.length)))
        return start(binding, carrier, run, { params: given.params });
      const state = seal.open(requestState.slice(MARK.length), binding);
      if (state === undefined) throw invalidState();
      if (!isPlainObject(inputResponses) || !Object.values(inputResponses).every(isPlainObject))
        throw invalid("inputResponses must map the keys of inputRequests to objects.");
      const { resume, asked, given: before, owner, ...call } = state;
      if (isPlainObject(resume) && typeof asked === "number") {
        const answer = responseTo(`input-${asked + 1}`, inputResponses);
        const resumed = { state: resume, ...(answer && { answer }) };
        return start(binding, carrier, run, { params: { ...others, ...(before as JsonObject) }, resumed, asked });
      }
      const body = { ...call, inputResponses };
      return owner === replica.id ? goOn(body, carrier) : passOn(String(owner), body, carrier);
    },
    close(): void {
      stopServing();
      for (const call of live.values()) call.end("The server is closing.");
      for (const controller of elsewhere) controller.abort(cancelled("The server is closing."));
    },
  };
}

function responseTo(key: string, inputResponses: unknown): JsonObject | undefined {
  const responses = inputResponses as Readonly<Record<string, JsonObject>>;
  return Object.hasOwn(responses, key) ? responses[key] : undefined;
}

function byClient(): ArsenalError {
  return cancelled("The client cancelled the request.");
}

function cancelled(message: string): ArsenalError {
  return new ArsenalError("CANCELLED", message);
}

function invalidState(): RpcError {
  return invalid("The requestState is not valid for this request.");
}

function invalid(message: string): RpcError {
  return new RpcError({ code: RPC.invalidParams, message });
}
