import { words } from "../../tool/schema/keywords.ts";
import { asRecord } from "../../tool/json-schema.ts";
import type { AnsweredCall, StreamingDialect } from "../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../transcode/convert-schema.ts";
import { plainAnd } from "../../transcode/features.ts";
import { createPieceStream } from "./parts/read-call.ts";
import { chatDialect, either, spelled, type Spelling } from "./parts/chat-calls.ts";
import type { ObjectSchema } from "./parts/definitions.ts";
import { contentOf, textOf } from "./parts/result-content.ts";

/** A tool in the format of Cohere's chat (v2). */
export type CohereTool = {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
};

/** A result in the format of Cohere's own library. */
export type CohereToolMessage = {
  role: "tool";
  content: { type: "document"; document: { data: { [key: string]: unknown } } }[];
  toolCallId: string;
};

/** The API's documentation excludes ranges, lengths and composition other than anyOf. @internal */
export const COHERE_TARGET: SchemaTarget = {
  features: plainAnd(
    "const typeArrays pattern format default additionalProperties anyOf ref optionalProperties titles",
  ),
  formats: words("date-time uuid date time"),
};

/** Cohere's chat API, version 2. `spelling: "wire"` names members as in the HTTP API instead of as in Cohere's library. */
export function cohereDialect(options?: {
  readonly spelling?: "library";
}): StreamingDialect<CohereTool, CohereToolMessage>;
export function cohereDialect(options: { readonly spelling: "wire" }): StreamingDialect<CohereTool>;
export function cohereDialect({ spelling = "library" }: { readonly spelling?: Spelling } = {}): StreamingDialect<
  CohereTool,
  CohereToolMessage | Record<string, unknown>
> {
  return {
    ...chatDialect({ name: "cohere", target: COHERE_TARGET }),
    writeResults: (answered) => answered.map((each) => spelled(toMessage(each), spelling)),
    readStream: () =>
      createPieceStream((event, calls) => {
        const { type, index, delta } = asRecord(event);
        const key = String(index ?? 0);
        const message = asRecord(asRecord(delta)["message"]);
        const { id, function: called } = asRecord(either(message, "tool_calls", "toolCalls"));
        const { name, arguments: piece } = asRecord(called);
        if (type === "tool-call-end") return calls.close(key);
        if (type === "tool-call-start") calls.open(key, { id, name });
        if (type === "tool-call-start" || type === "tool-call-delta") calls.add(key, piece);
      }),
  };
}

/** Cohere cites documents. An error is a document with an error text, because the API has no error flag. */
function toMessage(answered: AnsweredCall): CohereToolMessage {
  const content = contentOf(answered);
  const text = textOf(content);
  const data = content.isError ? { error: text } : { output: text };
  return { role: "tool", content: [{ type: "document", document: { data } }], toolCallId: answered.read.id };
}

export const create = (): StreamingDialect<CohereTool, CohereToolMessage> => cohereDialect();
