import { asRecord, asRecords, isPlainObject } from "../../../tool/json-schema.ts";
import type { CallStream, ReadCall } from "../../../transcode/dialect.port.ts";
import { createCallAssembly, type RawCall, toReadCall } from "./read-call.ts";
import { type DefinitionShape, definitions, type ObjectSchema } from "./definitions.ts";

type Json = Readonly<Record<string, unknown>>;

/** Returns a member by its name in the HTTP API (`tool_calls`) or in a library (`toolCalls`). */
export function either(value: Json, wire: string, camel: string): unknown {
  return value[wire] ?? value[camel];
}

/** A definition in OpenAI's chat format. */
export type ChatTool = {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema; strict?: true };
};

/** Defines the definitions and calls of an API that uses OpenAI's chat format. */
export function chatDialect(shape: Pick<DefinitionShape<ChatTool>, "name" | "target" | "strictTarget">) {
  const defined = definitions<ChatTool>({
    ...shape,
    write: ({ name, description, schema, strict }) => ({
      type: "function",
      function: { name, description, parameters: schema, ...(strict && { strict }) },
    }),
    looksLike: '{"type": "function", "function": {"name": …, "parameters": …}}',
    read({ type = "function", function: tool }) {
      const { name, description, parameters } = asRecord(tool);
      return type === "function" ? { name, description, parameters } : undefined;
    },
  });
  return { ...defined, readCalls: readChatCalls };
}

const WIRE_NAMES: Readonly<Record<string, string>> = { toolCallId: "tool_call_id", imageUrl: "image_url" };

/** Names of message members: as in a provider's own library, or as in its HTTP API. */
export type Spelling = "library" | "wire";

/** Renames a message's members to a spelling. */
export function spelled<Message extends Json>(message: Message, spelling: Spelling): Message | Record<string, unknown> {
  const respell = (value: unknown): unknown => (Array.isArray(value) ? value.map(respellMembers) : value);
  const respellMembers = (value: Json): Record<string, unknown> =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [WIRE_NAMES[name] ?? name, respell(member)]));
  return spelling === "wire" ? respellMembers(message) : message;
}

/** Returns the calls of a whole response, in its first choice or in a message, in OpenAI's chat format: `tool_calls`, each with a `function`. */
function readChatCalls(response: unknown): readonly ReadCall[] {
  const answer = asRecord(response);
  const [choice] = asRecords(answer["choices"]);
  const message = asRecord(choice?.["message"] ?? answer["message"] ?? answer);
  const calls = asRecords(either(message, "tool_calls", "toolCalls"));
  const { function_call } = message;
  // Older responses have a single call without an id.
  if (calls.length === 0 && isPlainObject(function_call)) return [toReadCall(toRaw({ function: function_call }), 0)];
  return calls.map((call, position) => withCustom(call, toReadCall(toRaw(call), position)));
}

function toRaw(call: Json): RawCall {
  const { name, arguments: args } = asRecord(call["function"] ?? call["custom"]);
  return { id: call["id"], name, arguments: args };
}

/** A custom tool takes text, which no arsenal tool does. The API still requires a result for its call. */
function withCustom(call: Json, read: ReadCall): ReadCall {
  if (call["type"] !== "custom") return read;
  return { ...read, problem: "This is a call of a custom tool, which takes text. Call a function tool instead." };
}

/** Collects calls from the chunks of a streamed chat. The calls of a choice are complete when the choice finishes. */
export function createChatStream(): CallStream {
  const assembly = createCallAssembly();
  let latest = "";

  /** Some servers omit `index` or always send 0. Their calls are distinguished by id. */
  const keyOf = (choice: unknown, call: Json): string => {
    const { index, id } = call;
    const key = `${String(choice ?? 0)}/${typeof index === "number" ? index : ""}`;
    const isNew = typeof id === "string" && id !== "" && id !== "null";
    if (!isNew) return assembly.has(key) ? key : latest === "" ? key : latest;
    const open = assembly.idOf(key);
    return typeof index === "number" && (open === undefined || open === id) ? key : `${key}/${id}`;
  };

  return {
    push(event) {
      const chunk = asRecord(asRecord(event)["data"] ?? event);
      const done: ReadCall[] = [];
      for (const choice of asRecords(chunk["choices"])) {
        const delta = asRecord(choice["delta"] ?? choice["message"]);
        for (const call of asRecords(either(delta, "tool_calls", "toolCalls"))) {
          const { id, name, arguments: args } = toRaw(call);
          const key = keyOf(choice["index"], call);
          latest = key;
          assembly.open(key, { id, name });
          if (typeof args === "string") assembly.add(key, args);
          else assembly.set(key, args);
        }
        const { function_call } = delta;
        if (isPlainObject(function_call)) {
          const key = `${String(choice["index"] ?? 0)}/`;
          assembly.open(key, { name: function_call["name"] });
          assembly.add(key, function_call["arguments"]);
        }
        if (typeof either(choice, "finish_reason", "finishReason") === "string")
          done.push(...assembly.closeAll(`${String(choice["index"] ?? 0)}/`));
      }
      return done;
    },
    end: () => assembly.closeAll(),
  };
}
