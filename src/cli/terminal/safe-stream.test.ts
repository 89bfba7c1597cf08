import { expect, it } from "vitest";
import { styles } from "./style.ts";
import { safeStream } from "./safe-stream.ts";

function written(...texts: readonly string[]): string {
  let all = "";
  const stream = safeStream({ write: (text) => void (all += text), isTTY: true });
  for (const text of texts) stream.write(text);
  return all;
}

it.each([
  ["a one-character CSI", "a\u009B31mb", String.raw`a\u009b31mb`],
  ["the other C1 controls", "\u0080\u0085\u0090\u009D\u009F", String.raw`\u0080\u0085\u0090\u009d\u009f`],
  ["overrides of the writing direction", "a\u202Eb\u202C", String.raw`a\u202eb\u202c`],
  ["isolates", "\u2066x\u2069", String.raw`\u2066x\u2069`],
  ["marks of direction", "\u061C\u200E\u200F", String.raw`\u061c\u200e\u200f`],
  ["line separators", "a\u2028b\u2029", String.raw`a\u2028b\u2029`],
  ["escape sequences", "\u001B[2J\u001B]0;owned\u0007", String.raw`\u001b[2J\u001b]0;owned\u0007`],
  ["letters in the colour of their ground", "\u001B[8mx", String.raw`\u001b[8mx`],
  ["a carriage return that would overwrite the line", "ok\rno\r\u001B[Kno", String.raw`ok\u000dno\u000d\u001b[Kno`],
  ["a backspace", "a\bb\u0000\u007F", String.raw`a\u0008b\u0000\u007f`],
  ["characters without width", "a\u200Bb\u2060\uFEFF\u00AD", String.raw`a\u200bb\u2060\ufeff\u00ad`],
  ["tag characters", "a\u{E0041}", String.raw`a\udb40\udc41`],
])("shows %s instead of obeying", (_what, text, shown) => {
  expect(written(text)).toBe(shown);
});

it.each([
  ["line breaks and tabs", "one\r\ntwo\n\tthree"],
  ["every script, and emoji that are joined", "Ünïcode, 日本語, עברית, العربية, 👩‍💻"],
  ["its own progress bar", "\r\u001B[K[████] 5/5"],
])("writes %s as they are", (_what, text) => {
  expect(written(text)).toBe(text);
});

it("writes its own colours as they are", () => {
  const paint = styles({ write: () => {}, isTTY: true }, {});
  const text = Object.values(paint)
    .map((each) => each("x"))
    .join("");
  expect(written(text)).toBe(text);
});

it("shows in a pipe what it would show on a terminal, colours too", () => {
  let all = "";
  safeStream({ write: (text) => void (all += text) }).write("\u001B[31mred\u001B[39m \u202Eevil\r\nnext\ttab\n");
  expect(all).toBe(String.raw`\u001b[31mred\u001b[39m \u202eevil` + "\r\nnext\ttab\n");
});

it("leaves JSON the JSON it was", () => {
  const value = { text: "\u009B\u202E\u0007 and \u200F" };
  expect(JSON.parse(written(JSON.stringify(value)))).toEqual(value);
});

it("is the stream in everything else", () => {
  const answers: unknown[] = [];
  const inner = { write: () => false, isTTY: true, columns: 80, once: (name: string) => void answers.push(name) };
  const stream = safeStream(inner) as typeof inner;
  expect([stream.write(), stream.isTTY, stream.columns, "once" in stream]).toEqual([false, true, 80, true]);
  stream.once("drain");
  expect(answers).toEqual(["drain"]);
});
