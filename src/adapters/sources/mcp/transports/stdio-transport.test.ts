import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import type { StdioSettings } from "../settings.ts";
import { stdioTransport, type StdioOptions, type StdioTransport } from "./stdio-transport.ts";

/** A transport whose messages and errors are awaited one by one, in the order they came. */
interface Observed {
  readonly transport: StdioTransport;
  readonly errors: string[];
  readonly closed: Promise<void>;
  next(): Promise<JSONRPCMessage>;
}

const opened: StdioTransport[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

function observe(settings: Omit<StdioSettings, "kind">, options?: StdioOptions): Observed {
  const transport = stdioTransport({ kind: "stdio", ...settings }, options);
  opened.push(transport);
  const errors: string[] = [];
  const messages: JSONRPCMessage[] = [];
  const closed = Promise.withResolvers<void>();
  let wake = (): void => {};
  Object.assign(transport, {
    onmessage(message: JSONRPCMessage) {
      messages.push(message);
      wake();
    },
    onerror: (error: Error) => void errors.push(error.message),
    onclose: closed.resolve,
  });
  return {
    transport,
    errors,
    closed: closed.promise,
    async next() {
      for (;;) {
        const message = messages.shift();
        if (message !== undefined) return message;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** A server in the form of a program's text. */
function program(text: string): Omit<StdioSettings, "kind"> {
  return {
    command: process.execPath,
    args: [
      "-e",
      `const say = (params) => console.log(JSON.stringify({ jsonrpc: "2.0", method: "said", params }));\n${text}`,
    ],
  };
}

function shell(text: string): Omit<StdioSettings, "kind"> {
  return { command: "sh", args: ["-c", text] };
}

function said(params: unknown): unknown {
  return { jsonrpc: "2.0", method: "said", params };
}

const PING: JSONRPCMessage = { jsonrpc: "2.0", id: 1, method: "ping", params: { text: "a\nb é 😀" } };

describe("a stdio server", () => {
  it("is sent one message a line, and heard the same way", async () => {
    const { transport, next, closed, errors } = observe({ command: "cat" });
    await transport.start();
    await transport.send(PING);
    expect(await next()).toEqual(PING);
    await transport.close();
    await closed;
    expect(errors).toEqual([]);
  });

  it("answers the protocol's own client [000-7.1-stdio] [004-mcp-stdio]", async () => {
    const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
    const { transport } = observe({ command: process.execPath, args: [everything, "stdio"] });
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(transport);
    expect(await client.callTool({ name: "echo", arguments: { message: "hé" } })).toMatchObject({
      content: [{ type: "text", text: "Echo: hé" }],
    });
    await client.close();
  });

  it("sees the declared environment and none of ours", async () => {
    process.env["TOOLARSENAL_TEST_SECRET"] = "secret";
    const { transport, next } = observe({ ...program("say(process.env)"), env: { DECLARED: "yes" } });
    await transport.start();
    const message = await next();
    delete process.env["TOOLARSENAL_TEST_SECRET"];
    expect(message).toMatchObject({ params: { DECLARED: "yes", PATH: process.env["PATH"] } });
    expect(JSON.stringify(message)).not.toContain("secret");
  });

  it("runs in the folder it is given, without a shell", async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "stdio-")));
    const { command, args = [] } = program("say([process.cwd(), process.argv.at(-1)])");
    const { transport, next } = observe({ command, args: [...args, "$HOME; *"], cwd });
    await transport.start();
    expect(await next()).toEqual(said([cwd, "$HOME; *"]));
    rmSync(cwd, { recursive: true });
  });

  it("may write what is no message to stdout: it is reported and skipped", async () => {
    const { transport, next, errors } = observe(
      shell(
        `printf 'Listening…\\n[1]\\n{"jsonrpc":"1.0"}\\nnull\\n\\n{"jsonrpc":"2.0","method":"said","params":1}\\r\\n'; exec cat`,
      ),
    );
    await transport.start();
    expect(await next()).toEqual(said(1));
    expect(errors.map((error) => error.split("skipped: ")[1])).toEqual([
      '"Listening…".',
      '"[1]".',
      '"{\\"jsonrpc\\":\\"1.0\\"}".',
      '"null".',
    ]);
  });

  it("may write a line of 100 MB: it is reported, and the next line is read", async () => {
    const { transport, next, errors } = observe(
      program(`
        const part = Buffer.alloc(1024 * 1024, "x");
        const fs = require("node:fs");
        for (let index = 0; index < 100; index++) for (let at = 0; at < part.length; ) at += fs.writeSync(1, part, at);
        fs.writeSync(1, "\\n");
        say("next");`),
    );
    await transport.start();
    expect(await next()).toEqual(said("next"));
    expect(errors).toEqual([
      expect.stringContaining(
        `The MCP server ${JSON.stringify(process.execPath)} sent a message of more than 16777216`,
      ),
    ]);
  });

  it("is heard also where a listener throws", async () => {
    const { transport, errors, closed } = observe(
      shell(`printf '{"jsonrpc":"2.0","method":"a"}\\n{"jsonrpc":"2.0","method":"b"}\\n'`),
    );
    Object.assign(transport, {
      onmessage(message: JSONRPCMessage) {
        throw new Error(`No ${JSON.stringify(message)}`);
      },
    });
    await transport.start();
    await closed;
    expect(errors.slice(0, 2)).toEqual(['No {"jsonrpc":"2.0","method":"a"}', 'No {"jsonrpc":"2.0","method":"b"}']);
  });

  it("that does not read holds what is sent to it back", async () => {
    const { transport, next } = observe(
      program(`
        process.on("SIGUSR2", () => {
          let length = 0;
          process.stdin.on("data", (chunk) => { length += chunk.length; if (chunk.at(-1) === 10) say(length); });
          process.stdin.on("end", () => process.exit());
        });
        say("ready");
        setInterval(() => {}, 1000);`),
    );
    await transport.start();
    expect(await next()).toEqual(said("ready"));
    let isSent = false;
    const message: JSONRPCMessage = { jsonrpc: "2.0", method: "long", params: { text: "x".repeat(8_000_000) } };
    const sending = transport.send(message).then(() => (isSent = true));
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(isSent).toBe(false);
    process.kill(transport.pid ?? 0, "SIGUSR2");
    await sending;
    expect(await next()).toEqual(said(JSON.stringify(message).length + 1));
  });
});

describe("a stdio server that ends by itself", () => {
  it("is heard to its last word, and what it said on stderr is told with its exit code", async () => {
    const stderr: string[] = [];
    const { transport, next, closed, errors } = observe(
      shell(`printf '{"jsonrpc":"2.0","method":"said","params":"last"}'; echo one >&2; printf 'no key' >&2; exit 3`),
      { onStderr: (line) => void stderr.push(line) },
    );
    await transport.start();
    expect(await next()).toEqual(said("last"));
    await closed;
    expect(stderr).toEqual(["one", "no key"]);
    expect(errors).toEqual(['The MCP server "sh" exited with code 3. It last wrote to stderr: "no key".']);
  });

  it("is reported with the error that ended it, not with what its runtime wrote below", async () => {
    const { transport, closed, errors } = observe(program("throw new RangeError('PORT is missing')"));
    await transport.start();
    await closed;
    expect(errors).toEqual([expect.stringContaining('It last wrote to stderr: "RangeError: PORT is missing".')]);
  });

  it("tells no secret that it wrote to stderr, neither then nor in the end", async () => {
    const stderr: string[] = [];
    const { transport, closed, errors } = observe(shell("echo no s3cr3t >&2; exit 3"), {
      onStderr: (line) => void stderr.push(line),
      redact: (line) => line.replace("s3cr3t", "[redacted]"),
    });
    await transport.start();
    await closed;
    expect([...stderr, ...errors]).toEqual([
      "no [redacted]",
      'The MCP server "sh" exited with code 3. It last wrote to stderr: "no [redacted]".',
    ]);
  });

  it("takes no more messages, and says that nothing was sent", async () => {
    const { transport, closed } = observe(shell("exit 0"));
    await transport.start();
    await closed;
    await expect(transport.send(PING)).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      details: { beforeSend: true },
    });
  });

  it("or does not listen any more makes sending fail and the connection end", async () => {
    const { transport, next, closed, errors } = observe(
      shell(`exec 0<&-; printf '{"jsonrpc":"2.0","method":"said","params":"deaf"}\\n'; exec sleep 1000`),
    );
    await transport.start();
    await next();
    await expect(transport.send(PING)).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringMatching(/^The MCP server "sh" stopped reading its input: .*EPIPE/),
    });
    await closed;
    expect(errors).toEqual(['The MCP server "sh" was ended by SIGTERM.']);
  });
});

describe("a stdio server that cannot start", () => {
  it.each([
    [
      { command: "no-such-command" },
      'The command "no-such-command" of the MCP server was not found.',
      "Install it, or write its full path as the command.",
    ],
    [
      { command: "cat", cwd: join(tmpdir(), "no-such-folder") },
      `The working directory ${JSON.stringify(join(tmpdir(), "no-such-folder"))} of "cat" does not exist.`,
      "Create it, or change cwd.",
    ],
    [
      { command: tmpdir() },
      `The command ${JSON.stringify(tmpdir())} of the MCP server may not be executed.`,
      "Make the file executable, or name the program that runs it as the command and the file as its first argument.",
    ],
    [
      { command: "cat", args: ["\0"] },
      expect.stringMatching(/^The command "cat" of the MCP server could not be started: .*null bytes/),
      "Run it in a terminal to see what is wrong.",
    ],
  ])("says why and what to do: %j", async (settings, message, fix) => {
    const { transport } = observe(settings);
    await expect(transport.start()).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message,
      details: { fix, beforeSend: true },
    });
    await transport.close();
  });
});

it("a transport is used once", async () => {
  const { transport } = observe({ command: "cat" });
  await transport.start();
  await expect(transport.start()).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
  await transport.close();
  await expect(transport.start()).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
});
