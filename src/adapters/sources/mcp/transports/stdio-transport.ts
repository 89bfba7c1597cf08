import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { systemClock, type Clock, within } from "../../../../observe/clock.ts";
import { createFloodGate } from "./flood-gate.ts";
import { createLineReader } from "../../../../mcp/read-lines.ts";
import type { StdioSettings } from "../settings.ts";
import { HAS_GROUPS, stopGroup } from "../../../../system/process-group.ts";
import { childEnvironment, limitedCommand, limitsInWords, spawnFailure } from "./stdio-program.ts";
import { createWatchdog } from "../../../../system/watchdog.ts";
import { deliver, findAnswered, MAX_MESSAGE_BYTES, MessageTooLong, report } from "../../../../mcp/wire-message.ts";

export interface StdioOptions {
  /** The configured name of the server, for messages. Defaults to its command. */
  readonly name?: string;
  /** Names and patterns of environment variables that the process inherits. */
  readonly envPassthrough?: readonly string[] | undefined;
  /** Removes secrets from each stderr line of the server before it is logged. */
  readonly redact?: (line: string) => string;
  readonly onStderr?: ((line: string) => void) | undefined;
  /** The longest message, in bytes. Longer ones are dropped as they arrive. Defaults to 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** A connection to a server in a child process. The SDK's client recognises a child process by `pid` and `stderr`. */
export interface StdioTransport extends Transport {
  readonly pid: number | undefined;
  readonly stderr: null;
}

const MAX_STDERR_LINE_BYTES = 64 * 1024;

/** Lines that runtimes print below an error: the stack, the error's fields, the requiring modules, and the version of Node.js. */
const BELOW_AN_ERROR = /^(?:\s|$|[\])}]|- |Require stack:|Node\.js v\d)/;

/** How long to wait for output of an exited process that is still in its pipes. */
const DRAIN_MS = 500;

/** Shared by the whole process: one shell watches every server's process group. */
const watchdog = createWatchdog();

/**
 * Runs a server as a child process, without a shell. Each line is one message. `close`, the child's exit and the exit of this process end the whole
 * process group.
 */
export function stdioTransport(settings: StdioSettings, options: StdioOptions = {}): StdioTransport {
  const { onStderr, redact = (line) => line, maxMessageBytes = MAX_MESSAGE_BYTES, clock = systemClock } = options;
  const server = `The MCP server ${showValue(options.name ?? settings.command)}`;
  let child: ChildProcessWithoutNullStreams | undefined;
  let exited: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | undefined;
  let closeAsked = false;
  let isOver = false;
  let lastWords = "";

  async function start(): Promise<void> {
    if (child !== undefined || closeAsked)
      throw new ArsenalError("TRANSPORT_FAILED", `${server} was started before: a transport is used once.`, {
        fix: "Create a new transport for each connection.",
      });
    let started: ChildProcessWithoutNullStreams;
    const env = childEnvironment(settings.env, options.envPassthrough);
    const [program, ...args] = limitedCommand(settings, env["PATH"], options.name);
    try {
      started = child = watchdog.launch(() =>
        spawn(program, args, {
          env,
          cwd: settings.cwd,
          detached: HAS_GROUPS,
          stdio: "pipe",
          windowsHide: true,
        }),
      );
      exited = new Promise((resolve) => void started.once("exit", () => resolve()));
      await once(started, "spawn");
    } catch (error) {
      child = undefined;
      throw spawnFailure(settings, error, options.name);
    }
    listen(started);
  }

  function listen(running: ChildProcessWithoutNullStreams): void {
    const stop = (): void => void stopOnce(running);
    running.on("error", failed);
    running.on("exit", stop);
    running.on("close", announceEnd);
    // A server that cannot read requests or write responses is stopped.
    running.stdin.on("error", stop);
    running.stdout.on("end", stop);
    running.stdout.on("error", stop);
    running.stderr.on("error", failed);

    const gate = createFloodGate(clock);
    let isTold = false;
    const tooLong = (glimpse: Buffer): void => {
      const about = findAnswered(glimpse);
      if (isTold || about === undefined) return;
      isTold = true;
      failed(new MessageTooLong(server, maxMessageBytes, about));
    };
    const messages = createLineReader({
      maxBytes: maxMessageBytes,
      onLine(line) {
        const message = deliver(transport, line, server);
        gate.count(message !== undefined && !("method" in message));
      },
      onTooLong(head) {
        isTold = false;
        tooLong(head);
      },
      onSkipped(tail) {
        tooLong(tail);
        if (!isTold) failed(new MessageTooLong(server, maxMessageBytes));
      },
    });
    running.stdout.on("data", (chunk: Buffer) => {
      messages.push(chunk);
      gate.hold(running.stdout);
    });
    running.stdout.on("end", messages.end);
    const words = createLineReader({
      maxBytes: MAX_STDERR_LINE_BYTES,
      onLine(line) {
        wordGate.count(false);
        hearStderr(line);
      },
      onTooLong: () => hearStderr(`(a line of more than ${MAX_STDERR_LINE_BYTES} bytes is left out)`),
    });
    const wordGate = createFloodGate(clock);
    running.stderr.on("data", (chunk: Buffer) => {
      words.push(chunk);
      wordGate.hold(running.stderr);
    });
    running.stderr.on("end", words.end);
  }

  function hearStderr(line: string): void {
    const said = redact(line);
    if (lastWords === "" || !BELOW_AN_ERROR.test(said)) lastWords = said;
    onStderr?.(said);
  }

  const failed = (error: Error): void => report(transport, error);

  const stopOnce = (running: ChildProcessWithoutNullStreams): Promise<void> => (stopped ??= stopChild(running));

  async function stopChild(running: ChildProcessWithoutNullStreams): Promise<void> {
    const { pid, stdin, stdout, stderr } = running;
    if (pid === undefined) return;
    const drained = new Promise<void>((resolve) => void running.once("close", () => resolve()));
    stdin.end();
    await stopGroup(pid, exited, clock);
    watchdog.forget(pid);
    // A process that left the group may hold the pipes open indefinitely.
    if (!isOver) await within(DRAIN_MS, drained, clock);
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    announceEnd();
  }

  function announceEnd(): void {
    if (isOver) return;
    isOver = true;
    const how = child?.signalCode == null ? `exited with code ${child?.exitCode}` : `was ended by ${child.signalCode}`;
    const words = lastWords === "" ? "" : ` It last wrote to stderr: ${showValue(lastWords, 300)}.`;
    const limits = limitsInWords(settings);
    const fix = `Run the command in a terminal to see why it ends${limits === "" ? "" : ", or raise its limits"}.`;
    if (!closeAsked) failed(new ArsenalError("TRANSPORT_FAILED", `${server} ${how}.${limits}${words}`, { fix }));
    transport.onclose?.();
  }

  function send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (child === undefined || stopped !== undefined)
        throw new ArsenalError("TRANSPORT_FAILED", `${server} is not running, so nothing was sent to it.`, {
          beforeSend: true,
          fix: "Connect again.",
        });
      const { stdin } = child;
      // Messages that are sent in one turn of the event loop are written together.
      if (stdin.writableCorked === 0) {
        stdin.cork();
        setImmediate(() => stdin.uncork());
      }
      stdin.write(`${JSON.stringify(message)}\n`, (cause) => {
        if (cause == null) return resolve();
        const why = `${server} stopped reading its input: ${cause.message}.`;
        reject(new ArsenalError("TRANSPORT_FAILED", why, { cause }));
      });
    });
  }

  async function close(): Promise<void> {
    closeAsked = true;
    if (child !== undefined) await stopOnce(child);
  }

  const transport: StdioTransport = {
    get pid() {
      return child?.pid;
    },
    stderr: null,
    start,
    send,
    close,
  };
  return transport;
}
