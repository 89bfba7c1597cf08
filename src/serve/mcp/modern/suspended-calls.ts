import { randomUUID } from "node:crypto";
import type { Ask } from "../../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError, type RpcNotification } from "../../../mcp/protocol.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { unaskable } from "../client-abilities.ts";
import type { Exchange } from "../plane.ts";
import type { Work } from "../../work.ts";
import type { Replica } from "../replica.ts";
import type { SealBinding } from "./seal.ts";

/** The request that a call's notifications and answer travel on at present. */
export interface Carrier {
  readonly capabilities: JsonObject;
  /** The token under which this request wants progress. */
  readonly progressToken: unknown;
  notify(notification: RpcNotification): void;
}

/** One request's part in a call: the first request starts the call, each repeat goes on with it. */
export interface Leg {
  /** The call's result, or what the client is asked before there is one. */
  readonly answer: Promise<JsonObject>;
  /** Ends the call where this request still carries it. */
  cancel(): void;
}

/** What a call runs with. `params` are those of the request that started it. */
type CallChannel = Pick<Exchange, "params" | "signal" | "notify" | "ask" | "resumed">;
type Run = (channel: CallChannel) => Promise<JsonObject>;

/** How modern requests are answered. */
export interface ModernRequestsOptions {
  /** This process among others that share a state: a repeat may reach any of them. */
  readonly replica: Replica;
  /** The work of the gateway. While it drains, new requests are refused; those that other processes run for this one count as work. */
  readonly work: Pick<Work, "run" | "draining" | "retryAfterS">;
  /** How many calls may wait for their client; 1000 by default. */
  readonly suspendedLimit?: number;
  readonly clock?: Clock;
}

interface Question {
  readonly request: JsonObject;
  /** Set if the call can start over from this question in any process. */
  readonly resume: JsonObject | undefined;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: unknown) => void;
}

interface Call {
  /** Given when the call is first suspended. */
  id: string | undefined;
  readonly binding: SealBinding;
  readonly params: JsonObject;
  readonly controller: AbortController;
  readonly firstToken: unknown;
  readonly questions: Map<string, Question>;
  /** What was said while no request was open; the repeat gets it. */
  readonly kept: RpcNotification[];
  carrier: (Carrier & Pick<Question, "resolve" | "reject">) | undefined;
  capabilities: JsonObject;
  outcome: { readonly result: JsonObject } | { readonly error: unknown } | undefined;
  asked: number;
  round: number;
  scheduled: boolean;
  stopWaiting: (() => void) | undefined;
}

/** Requests that the protocol lets a server answer with `input_required`. */
const MAY_ASK: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);
/** Tells the state of a suspended call from what a plane may have sealed with the same key. */
const MARK = "call.";
const KEPT_NOTIFICATIONS = 100;
/** How long a call waits for its client, as long as its sealed state is good. */
const LONGEST_WAIT_MS = 600_000;

/**
 * Carries the calls of modern clients over the requests that they take. A call that can start over from its question leaves nothing here: the
 * client carries all of it, sealed. Any other call is in the middle of something and waits in this process, which other processes hand the
 * answers to.
 */
export function createSuspendedCalls(plane: string, options: ModernRequestsOptions) {
  const { replica, work, suspendedLimit = 1000, clock = systemClock } = options;
  const { seal } = replica;
  const live = new Set<Call>();
  const waiting = new Map<string, Call>();
  /** Repeats that were handed to other processes. */
  const elsewhere = new Set<AbortController>();
  const kind = `call/${plane}`;
  const stopServing = replica.serve(kind, (body, { signal, note }) => {
    const { capabilities, progressToken } = body;
    const leg = goOn(body, {
      capabilities: capabilities as JsonObject,
      progressToken,
      notify: (sent) => note({ ...sent }),
    });
    signal.addEventListener("abort", () => leg.cancel(), { once: true });
    return leg.answer;
  });

  function carry(call: Call, carrier: Carrier): Leg {
    const answer = new Promise<JsonObject>((resolve, reject) => {
      call.carrier = { ...carrier, resolve, reject };
    });
    const own = call.carrier;
    call.capabilities = carrier.capabilities;
    return {
      answer,
      cancel() {
        if (call.carrier === own) end(call, "The client cancelled the request.");
      },
    };
  }

  function end(call: Call, message: string): void {
    const error = cancelled(message);
    forget(call);
    call.carrier?.reject(error);
    call.carrier = undefined;
    call.controller.abort(error);
    for (const question of call.questions.values()) question.reject(error);
  }

  function forget(call: Call): void {
    live.delete(call);
    if (call.id === undefined) return;
    waiting.delete(call.id);
    call.stopWaiting?.();
  }

  function notify(call: Call, notification: RpcNotification): void {
    const { carrier, firstToken } = call;
    if (carrier === undefined) {
      if (call.kept.length < KEPT_NOTIFICATIONS) call.kept.push(notification);
    } else if (notification.method !== "notifications/progress" || carrier.progressToken === firstToken) {
      carrier.notify(notification);
    } else if (carrier.progressToken !== undefined) {
      const { progressToken } = carrier;
      carrier.notify({ ...notification, params: { ...notification.params, progressToken } });
    }
  }

  function asker(call: Call): Ask {
    return (method, params, { signal, resume }) => {
      const refused = MAY_ASK.has(call.binding.method)
        ? unaskable(method, params, { era: "modern", capabilities: call.capabilities })
        : new RpcError({ code: RPC.internalError, message: `A client cannot be asked during ${call.binding.method}.` });
      if (refused !== undefined) return Promise.reject(refused);
      const ended = [signal, call.controller.signal].find(({ aborted }) => aborted);
      if (ended !== undefined) return Promise.reject(ended.reason as Error);
      return new Promise<JsonObject>((resolve, reject) => {
        const key = `input-${++call.asked}`;
        const settled = (): void => {
          call.questions.delete(key);
          signal.removeEventListener("abort", withdraw);
        };
        const withdraw = (): void => (settled(), reject(signal.reason as Error));
        signal.addEventListener("abort", withdraw, { once: true });
        call.questions.set(key, {
          request: { method, ...(params === undefined ? {} : { params }) },
          resume,
          resolve: (result) => (settled(), resolve(result)),
          reject: (error) => (settled(), reject(error)),
        });
        schedule(call);
      });
    };
  }

  /** Puts questions that come together into one answer. */
  function schedule(call: Call): void {
    if (call.scheduled) return;
    call.scheduled = true;
    setImmediate(() => {
      call.scheduled = false;
      const [question, another] = call.questions.values();
      const startsOver = question?.resume !== undefined && another === undefined && call.carrier !== undefined;
      if (startsOver) return handOver(call, question);
      const entering = replica.enter();
      if (entering === undefined) return suspend(call);
      // If the store is away, the call can still be answered in this process.
      void entering.catch(() => undefined).then(() => suspend(call));
    });
  }

  /** Gives the client all that the call needs to start over, and forgets the call. */
  function handOver(call: Call, { resume }: Question): void {
    const { requestState, inputResponses } = call.params;
    const state = { resume, asked: call.asked - 1, given: { requestState, inputResponses } };
    ask(call, state);
    end(call, "The call goes on when the client repeats it.");
  }

  function suspend(call: Call): void {
    const { questions } = call;
    if (call.carrier === undefined || questions.size === 0) return;
    if (waiting.size >= suspendedLimit) {
      const message = "Too many calls wait for their clients' answers: try again later.";
      for (const question of questions.values()) question.reject(new RpcError({ code: RPC.internalError, message }));
      return;
    }
    call.id ??= randomUUID();
    call.round += 1;
    if (!ask(call, { call: call.id, round: call.round, owner: replica.id })) return;
    waiting.set(call.id, call);
    call.stopWaiting = clock.after(LONGEST_WAIT_MS, () => end(call, "The client did not answer in time."), {
      background: true,
    });
  }

  /** Answers the request that carries the call with the open questions. False if that failed, and ended the call. */
  function ask(call: Call, state: JsonObject): boolean {
    const { carrier } = call;
    let requestState: string;
    try {
      requestState = MARK + seal.seal(state, call.binding);
    } catch {
      end(call, "The call could not be suspended.");
      return false;
    }
    call.carrier = undefined;
    const inputRequests = Object.fromEntries([...call.questions].map(([key, { request }]) => [key, request]));
    carrier?.resolve({ resultType: "input_required", inputRequests, requestState });
    return true;
  }

  /** Hands the outcome to the request that carries the call; without one it is kept for the repeat. */
  function settle(call: Call): void {
    const { carrier, outcome } = call;
    if (carrier === undefined || outcome === undefined) return;
    forget(call);
    call.carrier = undefined;
    if ("result" in outcome) carrier.resolve(outcome.result);
    else carrier.reject(outcome.error);
  }

  async function follow(call: Call, result: Promise<JsonObject>): Promise<void> {
    try {
      call.outcome = { result: await result };
    } catch (error) {
      call.outcome = { error };
    }
    settle(call);
  }

  function start(
    binding: SealBinding,
    carrier: Carrier,
    run: Run,
    given: Pick<CallChannel, "params" | "resumed"> & { readonly asked?: number },
  ): Leg {
    const { params, resumed, asked = 0 } = given;
    const controller = new AbortController();
    const call: Call = {
      id: undefined,
      binding,
      params,
      controller,
      firstToken: carrier.progressToken,
      questions: new Map(),
      kept: [],
      carrier: undefined,
      capabilities: carrier.capabilities,
      outcome: undefined,
      asked,
      round: 0,
      scheduled: false,
      stopWaiting: undefined,
    };
    live.add(call);
    const leg = carry(call, carrier);
    const channel: CallChannel = {
      params,
      signal: controller.signal,
      notify: (notification) => notify(call, notification),
      ask: asker(call),
      ...(resumed && { resumed }),
    };
    void follow(call, run(channel));
    return leg;
  }

  /** Goes on with a call that waits in this process. */
  function goOn({ call: id, round, inputResponses }: JsonObject, carrier: Carrier): Leg {
    const call = typeof id === "string" ? waiting.get(id) : undefined;
    if (call === undefined || call.round !== round) throw invalidState();
    waiting.delete(call.id ?? "");
    call.stopWaiting?.();
    const leg = carry(call, carrier);
    for (const notification of call.kept.splice(0)) notify(call, notification);
    for (const [key, question] of call.questions) {
      const response = responseTo(key, inputResponses);
      if (response !== undefined) question.resolve(response);
    }
    // What stays open is asked again, unless the answers that came let the call finish first.
    schedule(call);
    settle(call);
    return leg;
  }

  /** Hands a repeat to the process that its call waits in. */
  function passOn(to: string, body: JsonObject, { notify: tell, ...carrier }: Carrier): Leg {
    const controller = new AbortController();
    elsewhere.add(controller);
    const run = (signal: AbortSignal): Promise<JsonObject> =>
      replica.call(to, kind, { ...body, ...carrier }, { signal, note: (sent) => tell(sent as never) });
    const answer = work.run(controller.signal, run).finally(() => elsewhere.delete(controller));
    return { answer, cancel: () => controller.abort(cancelled("The client cancelled the request.")) };
  }

  return {
    /**
     * Starts the call that a request asks for, or goes on with the one that its `requestState` names. Throws an `RpcError` if that state, or
     * what comes with it, is not valid. A `requestState` that was not sealed here belongs to the plane.
     */
    handle(given: SealBinding, carrier: Carrier, run: Run): Leg {
      const { requestState, inputResponses = {}, ...others } = given.params;
      // The plane may seal with the same key: what it sealed is of no use here.
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
    /** Ends every call. */
    close(): void {
      stopServing();
      for (const call of live) end(call, "The server is closing.");
      for (const controller of elsewhere) controller.abort(cancelled("The server is closing."));
    },
  };
}

function responseTo(key: string, inputResponses: unknown): JsonObject | undefined {
  const responses = inputResponses as Readonly<Record<string, JsonObject>>;
  return Object.hasOwn(responses, key) ? responses[key] : undefined;
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
