import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { StreamingDialect } from "../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../transcode/convert-schema.ts";
import { plainAnd } from "../../transcode/features.ts";
import { createMessageStream, type RawCall } from "./parts/read-call.ts";
import { chatDialect } from "./parts/chat-calls.ts";
import type { ObjectSchema } from "./parts/definitions.ts";
import { contentOf, textOf } from "./parts/result-content.ts";

/** A tool in the format of Ollama's chat. */
export type OllamaTool = {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
};

/** A result in the format of Ollama's chat. Images are separate from the text. */
export type OllamaToolMessage = {
  role: "tool";
  tool_name: string;
  content: string;
  tool_call_id?: string;
  images?: string[];
};

/** The server reads type, description, enum, items, anyOf and properties of each parameter, and ignores other keywords. @internal */
export const OLLAMA_TARGET: SchemaTarget = { features: plainAnd("typeArrays anyOf optionalProperties") };

/** Ollama's chat API. */
export function ollamaDialect(): StreamingDialect<OllamaTool, OllamaToolMessage> {
  return {
    ...chatDialect({ name: "ollama", target: OLLAMA_TARGET }),
    writeResults: (answered) =>
      answered.map((each) => {
        const { id, idMadeUp, call } = each.read;
        const { parts } = contentOf(each);
        const images = parts.flatMap((part) =>
          part.kind === "media" && part.mimeType.startsWith("image/") ? [part.data] : [],
        );
        const rest = parts.filter((part) => part.kind === "text" || !part.mimeType.startsWith("image/"));
        return {
          role: "tool",
          tool_name: call.toolName,
          content: rest.length === 0 ? "(see the image)" : textOf({ parts: rest }),
          ...(idMadeUp !== true && { tool_call_id: id }),
          ...(images.length > 0 && { images }),
        };
      }),
    readStream: () => createMessageStream(callsOf),
  };
}

/** Every call arrives complete, in a chunk of its own or together with others. */
function callsOf(chunk: unknown): readonly RawCall[] {
  return asRecords(asRecord(asRecord(chunk)["message"])["tool_calls"]).map(({ id, function: called }) => {
    const { name, arguments: args } = asRecord(called);
    return { id, name, arguments: args };
  });
}

export { ollamaDialect as create };
