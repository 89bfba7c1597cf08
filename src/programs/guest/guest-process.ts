/**
 * The code of a confined process (Node or Deno), which runs one program of a model. This code runs inside the sandbox together with the program, so
 * the gateway trusts none of its messages. The realm without Node's objects only keeps honest programs to the language; the security boundary is
 * bubblewrap.
 */
import process from "node:process";
import { setImmediate } from "node:timers";
import vm from "node:vm";
import type { FromGuest, ToGuest } from "./process-messages.ts";
import { compileProgram, prepareCompiler, type SyntaxProblem } from "./compile.ts";
import { type SyntaxNode, withCompletion } from "./completion.ts";
import { PRELUDE } from "./prelude.ts";
import { createPrinted } from "./printed.ts";

/** The functions of the prelude. They take and return only text and numbers. */
interface Guest {
  start(text: string): void;
  settle(id: number, now: number, isError: boolean, text: string | undefined): void;
  dropped(): number;
}

/** The program in its realm. `outcome` returns JSON text. */
interface WatchedProgram {
  run(program: unknown): void;
  isPending(): boolean;
  outcome(mostBytes: number): string;
}

type Parse = (code: string, options: object) => SyntaxNode;

/** Evaluated first. Removes objects that other program hosts do not have, and keeps frames of this file out of stack traces. */
const REALM = `(function () {
  "use strict";
  for (const name of ["Intl", "Temporal", "WebAssembly", "SuppressedError", "DisposableStack", "AsyncDisposableStack"])
    delete globalThis[name];
  const own = new Set(["program.ts", "prelude.js"]);
  const { has } = Set.prototype;
  const value = (error, frames) => {
    let text = "";
    try {
      text = String(error);
    } catch {}
    for (let i = 0; i < frames.length; i++) {
      const file = frames[i].getFileName();
      if (own.has(file)) text += "\\n    at " + (frames[i].getFunctionName() ?? "<anonymous>") + " (" + file + ":" + frames[i].getLineNumber() + ":" + frames[i].getColumnNumber() + ")";
    }
    return text;
  };
  Object.defineProperty(own, "has", { value: has });
  Object.defineProperty(Error, "prepareStackTrace", { value });
})()`;

/** Evaluated after the prelude. Waits for the program inside its realm, so that the program never gets a function from outside. */
const WATCH = `(function (guest) {
  "use strict";
  const { value, failure } = guest;
  let state = "pending";
  let result;
  const describe = (error) => {
    try {
      return failure(error);
    } catch {
      return '{"message":"The program\\'s error cannot be described."}';
    }
  };
  return {
    run(program) {
      (async () => {
        try {
          result = await program();
          state = "fulfilled";
        } catch (error) {
          result = error;
          state = "rejected";
        }
      })();
    },
    isPending: () => state === "pending",
    outcome(most) {
      if (state === "rejected") return '{"error":' + describe(result) + "}";
      try {
        return value(result, most);
      } catch (error) {
        return '{"unwritable":' + describe(error) + "}";
      }
    },
  };
})`;

// Suppresses the warning that removing types is experimental in Node.
process.emitWarning = () => {};

const { parse } = (await import(`file://${process.argv[2]}`)) as { readonly parse: Parse };
const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
const evaluate = <Value>(code: string, filename: string): Value =>
  new vm.Script(code, { filename }).runInContext(context) as Value;

let waiting = 0;
let outbox: { readonly id: number; readonly tool: string; readonly args: string }[] = [];
let valueBytes = 0;
let printed = createPrinted(0, () => {});

function post(message: FromGuest): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function send(id: number, tool: string, args: string): void {
  outbox.push({ id, tool, args });
  waiting++;
}

evaluate(REALM, "realm.js");
const prelude = evaluate<(...host: readonly unknown[]) => Guest>(PRELUDE, "prelude.js");
const guest = prelude(send, (line: string) => printed.add(line));
const watched = evaluate<(guest: Guest) => WatchedProgram>(WATCH, "watch.js")(guest);

function parses(code: string, form: "script" | "function"): SyntaxProblem | undefined {
  try {
    toTree(code, form === "function");
    return undefined;
  } catch (error) {
    const { message, loc } = error as Error & { readonly loc?: { readonly line: number } };
    const text = `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, "")}`;
    return { message: text, ...(loc !== undefined && { line: loc.line }) };
  }
}

function toTree(code: string, allowReturnOutsideFunction: boolean): SyntaxNode {
  return parse(code, { ecmaVersion: "latest", allowAwaitOutsideFunction: true, allowReturnOutsideFunction });
}

/** Resolves when the program can do nothing more without a reply. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function end(outcome: Extract<FromGuest, { readonly kind: "ended" }>["outcome"]): void {
  printed.end(guest.dropped());
  post({ kind: "ended", outcome });
}

/** Reports the calls made, or the end of the program. */
function report(): void {
  const calls = outbox;
  outbox = [];
  if (waiting > 0) return post({ kind: "step", calls, waiting });
  if (watched.isPending()) return end({ error: { message: "The program waits for a promise that nothing resolves." } });
  const { value, truncated, error, unwritable } = JSON.parse(watched.outcome(valueBytes));
  if (error !== undefined) return end({ error });
  if (unwritable !== undefined) {
    const message = `The program's value cannot be written as JSON: ${unwritable.message}`;
    return end({ error: { ...unwritable, message } });
  }
  end({
    ...(value !== undefined && { value: JSON.stringify(value) }),
    ...(truncated !== undefined && { truncated }),
  });
}

async function heard(message: ToGuest): Promise<void> {
  if (message.kind === "start") {
    const { code, namespaces, input, seed, now, calls, logBytes } = message;
    ({ valueBytes } = message);
    printed = createPrinted(logBytes, (line) => post({ kind: "print", line }));
    guest.start(JSON.stringify({ namespaces, input, seed, now, calls }));
    const compiled = compileProgram(code, parses);
    if (!("code" in compiled)) return end({ error: compiled });
    watched.run(evaluate(withCompletion(compiled.code, toTree(compiled.code, true)), "program.ts"));
    await settled();
    return report();
  }
  // One after the other, so that only their order decides the program's next steps.
  for (const reply of message.replies) {
    waiting--;
    const isError = "error" in reply;
    guest.settle(reply.id, reply.now, isError, isError ? JSON.stringify(reply.error) : reply.value);
    await settled();
  }
  report();
}

let work = Promise.resolve();
let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  const lines = (text + chunk).split("\n");
  text = lines.pop() ?? "";
  for (const line of lines)
    work = work
      .then(() => heard(JSON.parse(line) as ToGuest))
      .catch((error: unknown) => end({ error: { message: `The program failed: ${String(error)}` } }));
});
process.stdin.on("end", () => process.exit());

// Loads and compiles the parts that every program needs.
prepareCompiler();
toTree("const ready = async () => 1;\nawait ready()", false);
// A rejection that a program ignores must not end the process.
process.on("unhandledRejection", () => {});
post({ kind: "ready" });
