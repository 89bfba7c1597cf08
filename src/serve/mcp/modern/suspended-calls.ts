import { randomUUID } from "node:crypto";
import type { Ask } from "../../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError, type RpcNotification } from "../../../mcp/protocol.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { unaskable } from "../client-abilities.ts";
import type { Exchange } from "../plane.ts";
import type { Seal, SealBinding } from "./seal.ts";

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

/** Calls that may ask their client something and wait while no request is open. */
export interface SuspendedCalls {
  start(
    binding: SealBinding,
    carrier: Carrier,
    run: (channel: Pick<Exchange, "signal" | "notify" | "ask">) => Promise<JsonObject>,
  ): Leg;
  /** True for a `requestState` that `resume` must judge; any other belongs to the plane. */
  owns(requestState: unknown): requestState is string;
  /** Goes on with a call. Throws an `RpcError` where the state, or what comes with it, is not good for that. */
  resume(requestState: string, binding: SealBinding, carrier: Carrier): Leg;
  /** Ends every call. */
  close(): void;
}

/** How calls are kept. */
export interface SuspendedCallsOptions {
  readonly seal: Seal;
  /** How long a call waits for its client; 600,000 ms where absent. */
  readonly ttlMs?: number;
  /** How many calls may wait at a time; 1000 where absent. */
  readonly limit?: number;
  readonly clock?: Clock;
}

interface Question {
  readonly request: JsonObject;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: unknown) => void;
}

interface Call {
  /** Given when the call is first suspended. */
  id: string | undefined;
  readonly binding: SealBinding;
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

/** Keeps the calls of modern clients alive between the requests that carry them. */
export function createSuspendedCalls(options: SuspendedCallsOptions): SuspendedCalls {
  const { seal, ttlMs = 600_000, limit = 1000, clock = systemClock } = options;
  const live = new Set<Call>();
  const waiting = new Map<string, Call>();

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
    const error = new ArsenalError("CANCELLED", message);
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
    return (method, params, { signal }) => {
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
      suspend(call);
    });
  }

  function suspend(call: Call): void {
    const { carrier, questions } = call;
    if (carrier === undefined || questions.size === 0) return;
    if (waiting.size >= limit) {
      const message = "Too many calls wait for their clients' answers: try again later.";
      for (const question of questions.values()) question.reject(new RpcError({ code: RPC.internalError, message }));
      return;
    }
    call.id ??= randomUUID();
    call.round += 1;
    let requestState: string;
    try {
      requestState = MARK + seal.seal({ call: call.id, round: call.round }, call.binding);
    } catch {
      return end(call, "The call could not be suspended.");
    }
    waiting.set(call.id, call);
    call.stopWaiting = clock.after(ttlMs, () => end(call, "The client did not answer in time."), { background: true });
    call.carrier = undefined;
    const inputRequests = Object.fromEntries([...questions].map(([key, { request }]) => [key, request]));
    carrier.resolve({ resultType: "input_required", inputRequests, requestState });
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

  return {
    start(binding, carrier, run) {
      const controller = new AbortController();
      const call: Call = {
        id: undefined,
        binding,
        controller,
        firstToken: carrier.progressToken,
        questions: new Map(),
        kept: [],
        carrier: undefined,
        capabilities: carrier.capabilities,
        outcome: undefined,
        asked: 0,
        round: 0,
        scheduled: false,
        stopWaiting: undefined,
      };
      live.add(call);
      const leg = carry(call, carrier);
      void follow(
        call,
        run({ signal: controller.signal, notify: (notification) => notify(call, notification), ask: asker(call) }),
      );
      return leg;
    },
    owns: (requestState): requestState is string =>
      typeof requestState === "string" && requestState.startsWith(MARK) && seal.owns(requestState.slice(MARK.length)),
    resume(requestState, binding, carrier) {
      const { call: id, round } = seal.open(requestState.slice(MARK.length), binding) ?? {};
      const call = typeof id === "string" ? waiting.get(id) : undefined;
      if (call === undefined || call.round !== round) throw invalid("The requestState is not valid for this request.");
      const { inputResponses = {} } = binding.params;
      if (!isPlainObject(inputResponses) || !Object.values(inputResponses).every(isPlainObject))
        throw invalid("inputResponses must map the keys of inputRequests to objects.");
      waiting.delete(call.id ?? "");
      call.stopWaiting?.();
      const leg = carry(call, carrier);
      for (const notification of call.kept.splice(0)) notify(call, notification);
      for (const [key, question] of call.questions) {
        const response = Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
        if (response !== undefined) question.resolve(response as JsonObject);
      }
      // What stays open is asked again, unless the answers that came let the call finish first.
      schedule(call);
      settle(call);
      return leg;
    },
    close() {
      for (const call of live) end(call, "The server is closing.");
    },
  };
}

function invalid(message: string): RpcError {
  return new RpcError({ code: RPC.invalidParams, message });
}
