import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelDouble, openModel, type ScriptStep } from "../../../../test/doubles/llms/model-double.ts";
import { runCli } from "../../run-cli.ts";

const CONTROL_C = "\u0003";
const ESCAPE = "\u001B";

let folder: string;
const opened: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-chat-"));
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  rmSync(folder, { recursive: true });
});

/** A person at a terminal, who sees what a chat shows and types. */
interface Person {
  readonly model: ModelDouble;
  type(text: string): void;
  /** Resolves once the screen shows this text after what was seen before. */
  sees(text: string): Promise<void>;
  readonly screen: { readonly out: string; readonly err: string };
  readonly exited: Promise<number>;
}

async function sitDown(
  script: (type: Person["type"]) => readonly ScriptStep[],
  { args = [], config = "" }: { readonly args?: readonly string[]; readonly config?: string } = {},
): Promise<Person> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const type = (text: string): void => void input.write(text);
  const model = await openModel("openai", script(type));
  opened.push(model);
  const { apiBase = "", apiKey } = model.settings;
  writeFileSync(
    join(folder, "arsenal.yaml"),
    `llm: { model: scripted-1, api_base: "${apiBase}", api_key: env:MODEL_KEY }\n${config}`,
  );
  const screen = { out: "", err: "" };
  let seen = 0;
  let all = "";
  let waiting: (() => void)[] = [];
  const show = (where: "out" | "err", text: string): void => {
    screen[where] += text;
    all += text;
    for (const check of waiting.splice(0)) check();
  };
  const output = new PassThrough().setEncoding("utf8").on("data", (text: string) => show("err", text));
  const exited = runCli(["chat", ...args], {
    out: { write: (text) => show("out", text), isTTY: true },
    err: { write: (text) => show("err", text), isTTY: true },
    folder,
    environment: { HOME: folder, MODEL_KEY: apiKey, NO_COLOR: "1" },
    signal: new AbortController().signal,
    keyboard: { input, output },
  });
  const sees = async (text: string): Promise<void> => {
    while (!all.slice(seen).includes(text)) await new Promise<void>((resolve) => waiting.push(resolve));
    seen = all.indexOf(text, seen) + text.length;
  };
  return { model, type, sees, screen, exited };
}

/** Writing a file needs approval. */
const NOTES = `
builtins: { tools: [file-write], files: { roots: ["."] } }
security: { require_confirmation: ["file_write"] }
`;

describe("a chat at a terminal", () => {
  it("goes on from prompt to prompt with the conversation, until Ctrl-D", async () => {
    const { model, type, sees, screen, exited } = await sitDown(() => [{ text: "Hello." }, { text: "Fine." }]);
    await sees("> ");
    type("Hi\r");
    await sees("Hello.\n");
    await sees("> ");
    type("\r"); // an empty line asks nothing
    await sees("> ");
    type("How are you?\r");
    await sees("Fine.\n");
    await sees("> ");
    type("\u0004");
    expect(await exited).toBe(0);
    expect(screen.out).toBe("Hello.\nFine.\n");
    expect(JSON.stringify(model.asked[1]?.body)).toMatch(/Hi.*Hello\..*How are you\?/);
  });

  it("cancels the turn on Ctrl-C, and ends on two of them", async () => {
    const hang = new Promise<never>(() => {});
    const person = await sitDown((type) => [() => (type(CONTROL_C), hang), { text: "Here." }]);
    const { type, sees, exited } = person;
    await sees("> ");
    type("Hi\r");
    await sees("aborted, 0 steps");
    await sees("> ");
    type("Still there?\r");
    await sees("Here.\n");
    await sees("> ");
    type(CONTROL_C);
    await sees("Press Ctrl-C again to quit.");
    type(CONTROL_C);
    expect(await exited).toBe(0);
  });

  it.each([
    ["y", "success", '"created":true'],
    ["n", "permission_denied", "was denied"],
  ])("asks about a call that needs approval, and takes %s for an answer", async (answer, status, told) => {
    const write = { name: "builtin-file_write", arguments: { path: "note.txt", content: "tea\u202E" } };
    const person = await sitDown(
      () => [{ calls: [write] }, ({ results }) => ({ text: `I read: ${results[0]?.text ?? ""}` })],
      { config: NOTES },
    );
    const { type, sees, screen, exited } = person;
    await sees("> ");
    type("Write a note about tea\r");
    await sees("needs your approval.");
    await sees(String.raw`"tea\u202e"`);
    await sees("Run it? [y/N] ");
    type(`${answer}\r`);
    await sees(`builtin-file_write ${status}`);
    await sees("I read: ");
    await sees("> ");
    expect(screen.out).toContain(told);
    type("\u0004");
    expect(await exited).toBe(0);
  });

  it("says how another person approves, if the operator may not", async () => {
    const write = { name: "builtin-file_write", arguments: { path: "note.txt", content: "tea" } };
    const config = NOTES.replace("security: {", "security: { self_approval: never,");
    const { type, sees, exited } = await sitDown(() => [{ calls: [write] }], { config });
    await sees("> ");
    type("Write a note about tea\r");
    await sees("Run it? [y/N] ");
    type("y\r");
    await sees("cannot approve its own call");
    await sees("approvals approve ");
    await sees("chat --resume ");
    await sees("> ");
    type("\u0004");
    expect(await exited).toBe(0);
  });

  it("shows what the model says without what steers a terminal", async () => {
    const { type, sees, screen, exited } = await sitDown(() => [{ text: `a\r${ESCAPE}[K${ESCAPE}[31mb\u202Ec` }]);
    await sees("> ");
    type("Hi\r");
    await sees("> ");
    expect(screen.out).toMatch(/^a.*b.*c\n$/); // letters of a sequence that arrived in pieces stay
    for (const steering of ["\r", ESCAPE, "\u202E"]) expect(screen.out).not.toContain(steering);
    type("\u0004");
    await exited;
  });

  it("works on one prompt that was given with the command, and asks about its calls", async () => {
    const write = { name: "builtin-file_write", arguments: { path: "note.txt", content: "tea" } };
    const args = ["Write a note about tea"];
    const { type, sees, exited } = await sitDown(() => [{ calls: [write] }, { text: "Done." }], {
      config: NOTES,
      args,
    });
    await sees("Run it? [y/N] ");
    type("y\r");
    await sees("Done.\n");
    expect(await exited).toBe(0);
  });

  it("exits with 130 if Ctrl-C ends the one prompt", async () => {
    const hang = new Promise<never>(() => {});
    const { exited } = await sitDown((type) => [() => (type(CONTROL_C), hang)], { args: ["Hi"] });
    expect(await exited).toBe(130);
  });

  it("tells of a model that fails, and goes on", async () => {
    const { model, type, sees, exited } = await sitDown(() => [{ text: "Back." }]);
    model.answerNext({ status: 400, body: { error: { message: "no" } } });
    await sees("> ");
    type("Hi\r");
    await sees("failed, 0 steps");
    await sees("> ");
    type("Hi\r");
    await sees("Back.\n");
    type("\u0004");
    expect(await exited).toBe(0);
  });
});
