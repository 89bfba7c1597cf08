import { present } from "../../../base/present.ts";
import { internalsOf } from "../../../arsenal.ts";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { llms } from "../../../adapters/llms/manifest.ts";
import type { AgentResult, AgentRun, NeededApproval } from "../../../agent/agent-run.ts";
import { type Agent, createAgent } from "../../../agent/create-agent.ts";
import type { AgentMessage } from "../../../agent/llm.port.ts";
import { fromSavedRun, hasEnded, type SavedRun } from "../../../agent/saved-run.ts";
import type { ToolArsenal } from "../../../arsenal.ts";
import { llmType } from "../../../config/load/chosen-adapters.ts";
import type { ResolvedConfig } from "../../../config/load/resolve-config.ts";
import { type ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { localOperator } from "../../../guard/principal.ts";
import { visibleText } from "../../../errors/visible-text.ts";
import { MCP_CONFIG, openArsenal, readSettings, throughToolset, TOOLSET } from "../../arsenal/open-arsenal.ts";
import { type Keyboard, openKeyboard } from "./keyboard.ts";
import { showEvents } from "./show-events.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { readChoice, readNumber, wrongInput } from "../../input.ts";
import { PROGRAM } from "../../program.ts";
import { note } from "../../terminal/style.ts";

export const command: Command = {
  positionals: ["[PROMPT]"],
  options: {
    llm: { value: "TYPE", description: `The model's API: ${Object.keys(llms).join(", ")}`, fallback: "llm.type" },
    model: { value: "NAME", description: "The model", fallback: "llm.model" },
    "api-base": { value: "URL", description: "Base URL of the API, such as http://127.0.0.1:11434/v1 for Ollama" },
    limit: { value: "N", description: "Send at most N tools with each request, 1 to 50", fallback: "8" },
    "max-steps": { value: "N", description: "Ask the model at most N times for one prompt", fallback: "10" },
    save: { value: "FILE", description: "Save the chat to this file" },
    resume: { value: "FILE", description: "Continue the chat in this file" },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: [
    'chat "Where is order 1042?"',
    "chat --llm anthropic --model claude-sonnet-4-5",
    "chat --resume chat.json --save chat.json",
  ],
  async run(input, terminal) {
    const limit = readNumber(input, "limit", { min: 1, max: 50, fallback: 8 });
    const maxSteps = readNumber(input, "max-steps", { min: 1, max: 1_000, fallback: 10 });
    const { resume } = input.options;
    const llm = llmSettings(input, (await readSettings(input, terminal)).llm);
    const saved = resume === undefined ? undefined : await readChat(resume, terminal);
    const prompt = await promptOf(input, terminal, saved);
    await using arsenal = await openArsenal(input, terminal, { llm, told: ["call-finished"] });
    const model = internalsOf(arsenal).llm;
    if (model === undefined) throw noModel();
    const through = throughToolset(input, arsenal);
    // The person at the terminal supervises every call, so the chat has that person's rights, like `toolarsenal call`.
    const principal = localOperator();
    const agent = createAgent({ name: "chat", llm: model, arsenal, principal, limit, maxSteps, ...through });
    const keyboard = typesIn(terminal).isTTY === true ? openKeyboard(terminal) : undefined;
    try {
      return await chat({ agent, arsenal, input, terminal, keyboard }, saved, prompt);
    } finally {
      keyboard?.close();
    }
  },
};

/** The usual exit code after Ctrl-C. */
const INTERRUPTED = 130;

interface Chat {
  readonly agent: Agent;
  readonly arsenal: ToolArsenal;
  readonly input: Input;
  readonly terminal: Terminal;
  readonly keyboard: Keyboard | undefined;
}

/** The configured model with overrides from the command line. Keys and addresses belong to one API. */
function llmSettings(input: Input, configured: ResolvedConfig["llm"]): ResolvedConfig["llm"] {
  const { model, "api-base": apiBase } = input.options;
  const type = readChoice(input, "llm", Object.keys(llms) as readonly (keyof typeof llms)[]);
  const isOther = (type !== undefined && type !== llmType(configured)) || apiBase !== undefined;
  const { type: _type, model: _model, apiKey: _key, apiBase: _base, extraBody: _extra, ...shared } = configured;
  const settings = { ...(isOther ? shared : configured), ...present({ type, model, apiBase }) };
  if (llmType(settings) === undefined) throw noModel();
  return settings;
}

function noModel(): ArsenalError {
  const fix =
    "Add this to arsenal.yaml, or give --llm and --model:\n\n  llm:\n    type: openai\n    model: gpt-5-mini\n    api_key: env:OPENAI_API_KEY\n";
  return fixable("CONFIG_INVALID", "No model is configured.", fix, { field: "llm" });
}

function typesIn({ keyboard }: Terminal): Readable & { readonly isTTY?: boolean } {
  return keyboard?.input ?? process.stdin;
}

/** Returns the prompt: the argument or the piped input. Undefined if it comes from the keyboard, or a saved run continues without one. */
async function promptOf(
  { positionals, options }: Input,
  terminal: Terminal,
  saved: SavedRun | undefined,
): Promise<string | undefined> {
  const [given] = positionals;
  if (given !== undefined && given.trim() !== "") return given;
  const input = typesIn(terminal);
  if (input.isTTY === true) return undefined;
  const piped = await text(input);
  if (piped.trim() !== "") return piped;
  if (saved !== undefined && !hasEnded(saved)) return "";
  const fix = 'Write it after the command: toolarsenal chat "Where is order 1042?"';
  throw wrongInput("PROMPT", options["resume"], "There is nothing to ask the model.", fix);
}

async function chat(given: Chat, saved: SavedRun | undefined, prompt: string | undefined): Promise<number> {
  const { agent, terminal, keyboard } = given;
  let history: readonly AgentMessage[] = saved?.messages ?? [];

  /** Runs one prompt. With a keyboard, errors are displayed and the chat continues. */
  async function turn(start: (signal: AbortSignal) => AgentRun): Promise<AgentResult["status"] | "failed"> {
    const stop = new AbortController();
    const quiet = keyboard?.onInterrupt(() => stop.abort());
    const signal = AbortSignal.any([stop.signal, terminal.signal]);
    const followed = { run: start(signal) };
    try {
      const { status, messages } = await finish(given, followed, signal);
      history = messages;
      return status;
    } catch (error) {
      await save(given, followed.run.save());
      if (prompt !== undefined || !isArsenalError(error)) throw error;
      history = followed.run.save().messages;
      terminal.err.write(`${error.code} ${error.message}\n`);
      return "failed";
    } finally {
      quiet?.();
    }
  }

  const goesOn = saved !== undefined && !hasEnded(saved);
  let status = goesOn ? await turn((signal) => agent.resume(saved, { signal })) : "answered";
  if (prompt !== undefined || keyboard === undefined) {
    if (prompt && status === "answered") status = await turn((signal) => agent.run(prompt, { history, signal }));
    return status === "answered" ? 0 : status === "aborted" ? INTERRUPTED : 1;
  }
  for (;;) {
    const line = await keyboard.ask("> ");
    if (line === undefined) return 0;
    if (line.trim() !== "") await turn((signal) => agent.run(line, { history, signal }));
  }
}

/** Follows a run to its end. Asks the user about pending calls. */
async function finish(given: Chat, followed: { run: AgentRun }, signal: AbortSignal): Promise<AgentResult> {
  const show = showEvents(given.terminal, given.input.json);
  for (;;) {
    for await (const event of followed.run) show(event);
    const result = await followed.run.result;
    const isAnswered = result.status === "paused" && (await askOperator(given, result.approvals));
    if (!isAnswered) {
      await save(given, followed.run.save());
      return result;
    }
    followed.run = given.agent.resume(followed.run.save(), { signal });
  }
}

/** Asks the operator about each pending call. Returns false if one is still pending. */
async function askOperator(
  { arsenal, terminal, keyboard }: Chat,
  waiting: readonly NeededApproval[],
): Promise<boolean> {
  if (keyboard === undefined) return false;
  for (const { confirmationId, toolId, toolName, arguments: args } of waiting) {
    terminal.err.write(
      `${toolId ?? toolName} needs your approval.\n  Arguments: ${visibleText(JSON.stringify(args))}\n`,
    );
    const line = await keyboard.ask("  Run it? [y/N] ");
    if (line === undefined) return false;
    const answer = /^y(?:es)?$/i.test(line.trim()) ? "approve" : "deny";
    const answered = await arsenal.approvals.answer(confirmationId, answer, localOperator());
    // If another person answered first, that answer counts.
    if (answered.outcome !== "refused" || answered.because === "settled") continue;
    terminal.err.write(`${answered.error.message}\n`);
    return false;
  }
  return true;
}

/** Saves the chat to the `--save` file. Always saves a chat that waits for approval. */
async function save({ input, terminal }: Chat, saved: SavedRun): Promise<void> {
  const waits = saved.open?.calls.flatMap(({ result }) => result?.confirmationId ?? []) ?? [];
  const file = input.options["save"] ?? (waits.length > 0 ? defaultChatFile(saved, terminal) : undefined);
  if (file !== undefined) await writeChat(file, saved, terminal);
  if (waits.length === 0) return;
  if (input.json) {
    if (file !== undefined) terminal.out.write(`${JSON.stringify({ type: "saved", file })}\n`);
    return;
  }
  const { config, options } = input;
  const flag = (name: string, value: string | undefined): string => (value === undefined ? "" : ` --${name} ${value}`);
  const from = flag("config", config);
  const same = from + ["llm", "model", "api-base", "toolset"].map((name) => flag(name, options[name])).join("");
  terminal.err.write("Waits for approval. Nothing that needs it has run.\n");
  for (const id of waits) terminal.err.write(`  Approve it:   ${PROGRAM} approvals approve ${id}${from}\n`);
  if (file === undefined) note(terminal, "The chat was not saved: give --save FILE.");
  else terminal.err.write(`  Then go on:   ${PROGRAM} chat --resume ${file}${same}\n`);
}

/** Reads a saved chat. Throws INPUT_INVALID, which names the file. */
async function readChat(file: string, { folder }: Terminal): Promise<SavedRun> {
  const refuse = (problem: string, fix: string): never => {
    throw wrongInput("--resume", file, problem, fix);
  };
  const json = await readFile(resolve(folder, file), "utf8").catch(() =>
    refuse(`Cannot resume ${file}: the file cannot be read.`, "Check the path."),
  );
  try {
    const saved: unknown = JSON.parse(json);
    fromSavedRun(saved);
    return saved as SavedRun;
  } catch (error) {
    if (!isArsenalError(error))
      return refuse(`Cannot resume ${file}: it is not JSON.`, "Give a file that chat --save wrote.");
    const { fix = "" } = error.details;
    return refuse(`${file}: ${error.message.replace(fix, "").trim()}`, fix);
  }
}

/** Saves a chat, readable only by this user, because it contains the arguments and results of calls. Never leaves a partial file. */
async function writeChat(file: string, saved: SavedRun, { folder }: Terminal): Promise<void> {
  const path = resolve(folder, file);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(saved)}\n`, { mode: 0o600 });
  await rename(temporary, path);
}

/** Returns the default file for a chat that waits for approval; undefined if this user has no home folder. */
function defaultChatFile(saved: SavedRun, { environment }: Terminal): string | undefined {
  const home = environment["HOME"] || environment["USERPROFILE"];
  return home ? join(home, ".toolarsenal", "chats", `${saved.traceId}.json`) : undefined;
}
