import { createEscaper } from "../../errors/visible-text.ts";
import type { Stream } from "../command.ts";

/** Line breaks of Windows. */
const BREAKS = String.raw`\r(?=\n)`;

/** Control sequences that this program itself writes: colours, the start of a progress bar, line breaks. */
const OWN = String.raw`\u001B\[(?:1|2|22|3[1236]|39)m|^\r\u001B\[K|${BREAKS}`;

const toTerminal = createEscaper(OWN);
const toPipe = createEscaper(BREAKS);

/** Wraps a stream so that text cannot control a terminal or hide anything. Control characters become JSON escapes, so JSON stays valid. */
export function safeStream<Given extends Stream>(stream: Given): Given {
  const escape = stream.isTTY === true ? toTerminal : toPipe;
  const write = (text: unknown, ...more: readonly unknown[]): unknown =>
    Reflect.apply(stream.write, stream, [typeof text === "string" ? escape(text) : text, ...more]);
  return new Proxy(stream, {
    get(target, name) {
      if (name === "write") return write;
      if (name === "steer") return (sequence: string): unknown => target.write(sequence);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
