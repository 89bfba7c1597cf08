import type { Stream } from "../command.ts";

/** Control characters, line separators, and everything that changes the writing direction. */
const STEERING = String.raw`[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]`;

/** What this program itself writes: its colours, the beginning of a progress bar, line breaks of another system. */
const OWN = String.raw`\u001B\[(?:1|2|22|3[1236]|39)m|^\r\u001B\[K|\r(?=\n)`;

const EITHER = new RegExp(`(${OWN})|${STEERING}`, "g");

/** Wraps a stream so that text cannot control the terminal: such characters are written as JSON escapes (`\u009b`), so JSON stays the same JSON. */
export function safeStream<Given extends Stream>(stream: Given): Given {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const neutralised = (text: string): string =>
    text.replaceAll(EITHER, (found, own: string | undefined) => own ?? escaped(found));
  const write = (text: unknown, ...more: readonly unknown[]): unknown =>
    Reflect.apply(stream.write, stream, [typeof text === "string" ? neutralised(text) : text, ...more]);
  return new Proxy(stream, {
    get(target, name) {
      if (name === "write") return write;
      if (name === "steer") return (sequence: string): unknown => target.write(sequence);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
