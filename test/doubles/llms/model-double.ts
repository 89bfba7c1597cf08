import type { RemoteLlmSettings } from "../../../src/adapters/llms/remote-llm.ts";
import { type DoubleAnswer, type HttpDouble, type SeenRequest, startDouble } from "../http-double.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { geminiWire } from "./gemini-wire.ts";
import { openaiWire } from "./openai-wire.ts";
import { responsesWire } from "./responses-wire.ts";

/*
 * Scripted models on loopback that speak the real wire formats, streamed and not. Their answers have the types of the official SDKs, and they refuse
 * what the real APIs refuse: unknown members, calls without results, results without calls, signatures that were changed or lost.
 */

/** One turn that a scripted model takes. */
export interface ScriptedTurn {
  readonly text?: string;
  /** Each names its tool by the alias. */
  readonly calls?: readonly ScriptedCall[];
  /** What the model thinks first. Sent in the API's signed or encrypted form, if it has one. */
  readonly thinking?: string;
  readonly stop?: "length" | "refused";
}

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a scripted model is asked, in the same words for every API. */
export interface AskedModel {
  readonly streamed: boolean;
  readonly system: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
  /** The text of the latest user message that is not a result; empty if there is none. */
  readonly prompt: string;
  /** The results after the latest turn of the model, as its API has them. */
  readonly results: readonly { readonly name: string; readonly text: string }[];
  /** The body of the request. */
  readonly body: unknown;
}

/** A turn, or what makes one of the request. */
export type ScriptStep = ScriptedTurn | ((asked: AskedModel) => ScriptedTurn | Promise<ScriptedTurn>);

/** What a turn is written with. */
export interface Writing {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** A number that no other turn of this double has. */
  readonly serial: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How one API looks on the wire. */
export interface ModelWire {
  readonly key: string;
  /** The status of the answer to a wrong key. */
  readonly keyStatus: 400 | 401;
  /** What follows the address of the server in `api_base`. */
  readonly base: string;
  keyOf(headers: SeenRequest["headers"]): string | undefined;
  /** Undefined if the API has no such path. */
  pathOf(path: string, body: Readonly<Record<string, unknown>>): { readonly streamed: boolean } | undefined;
  /** What the API would refuse the body for. */
  wrong(body: Readonly<Record<string, unknown>>): string | undefined;
  read(body: Readonly<Record<string, unknown>>): Omit<AskedModel, "streamed" | "body">;
  /** What the model reads, for counting tokens. */
  countedOf(body: Readonly<Record<string, unknown>>): unknown;
  whole(turn: ScriptedTurn, writing: Writing): object;
  /** The events of a streamed answer, as text on the wire. */
  events(turn: ScriptedTurn, writing: Writing): readonly string[];
  /** An error as the API writes it. */
  refusal(status: number, message: string): object;
}

export const MODEL_WIRES = {
  openai: openaiWire(),
  openai_responses: responsesWire(),
  anthropic: anthropicWire(),
  gemini: geminiWire(),
};
export type ModelApiName = keyof typeof MODEL_WIRES;
export const MODEL_APIS = Object.keys(MODEL_WIRES) as readonly ModelApiName[];

/** A scripted model. */
export interface ModelDouble extends HttpDouble {
  /** For the adapter of the same name, or for the section `llm` of a configuration. */
  readonly settings: RemoteLlmSettings & { readonly type: ModelApiName };
  /** What it was asked so far, without what it refused. */
  readonly asked: readonly AskedModel[];
}

/** Starts a model that takes the turns of the script, one for each request. */
export async function openModel(
  api: ModelApiName,
  script: readonly ScriptStep[] | ((asked: AskedModel, turn: number) => ScriptedTurn | Promise<ScriptedTurn>),
): Promise<ModelDouble> {
  const wire: ModelWire = MODEL_WIRES[api];
  const asked: AskedModel[] = [];
  const refuse = (status: number, message: string): DoubleAnswer => ({ status, body: wire.refusal(status, message) });
  const refuseKey = (key = ""): DoubleAnswer => ({
    status: wire.keyStatus,
    body: wire.refusal(401, `Incorrect API key provided: ${key}`),
  });

  const double = await startDouble(async ({ method, path, headers, body: given }) => {
    const body = given as Readonly<Record<string, unknown>>;
    if (wire.keyOf(headers) !== wire.key) return refuseKey(wire.keyOf(headers));
    const place = method === "POST" ? wire.pathOf(path, body) : undefined;
    if (place === undefined) return refuse(404, `There is no ${method} ${path}`);
    const wrong = wire.wrong(body);
    if (wrong !== undefined) return refuse(400, wrong);
    const serial = asked.length;
    const request = { ...wire.read(body), streamed: place.streamed, body };
    asked.push(request);
    const step = typeof script === "function" ? await script(request, serial) : script[serial];
    if (step === undefined) return refuse(400, "The script of this double has no more turns");
    const turn = typeof step === "function" ? await step(request) : step;
    const writing: Writing = {
      model: MODEL,
      inputTokens: countTokens(wire.countedOf(body)),
      outputTokens: countTokens(turn),
      serial,
      body,
    };
    if (!place.streamed) return { status: 200, body: wire.whole(turn, writing) };
    const events = wire.events(turn, writing).join("");
    return { status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" }, body: chunks(events) };
  });
  // The double itself, and not a copy: it counts.
  return Object.assign(double, {
    asked,
    settings: { type: api, model: MODEL, apiKey: wire.key, apiBase: `${double.url}${wire.base}` },
  });
}

const MODEL = "scripted-1";

/** About four characters a token. */
export function countTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

/** Small pieces that end anywhere, also within a character. */
async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 97) yield bytes.subarray(at, at + 97);
}
