import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { repeats } from "../../../../../test/kit/effort.ts";
import { systemClock, type Clock } from "../../../../observe/clock.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { stdioTransport, type StdioOptions, type StdioTransport } from "./stdio-transport.ts";

// because Windows has no process groups.
const onPosix = describe.skipIf(process.platform === "win32");
// because it reads /proc.
const onLinux = it.skipIf(process.platform !== "linux");

/** Says the process ids of itself and of two children of its own, and heeds neither the end of stdin nor SIGTERM. */
const STUBBORN = `trap '' TERM INT HUP
sleep 1000 & one=$!
sleep 1000 & two=$!
printf '{"jsonrpc":"2.0","method":"pids","params":{"pids":[%s,%s,%s]}}\\n' $$ $one $two
wait; wait; wait`;

/** Time runs twenty times as fast, for what depends on other processes and so cannot stand still. */
const hurriedClock: Clock = {
  now: () => systemClock.now() * 20,
  after: (ms, callback, options) => systemClock.after(ms / 20, callback, options),
};

/** True while the process runs; one that ended and that nobody asked about does not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

async function areGone(pids: readonly number[]): Promise<void> {
  await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 60_000, interval: 10 });
}

/** Starts a shell script as a server and waits for the process ids that it says. */
async function startScript(
  script: string,
  { args = [], ...options }: StdioOptions & { readonly args?: readonly string[] },
): Promise<{ readonly transport: StdioTransport; readonly pids: readonly number[]; readonly closed: Promise<void> }> {
  const transport = stdioTransport({ kind: "stdio", command: "sh", args: ["-c", script, ...args] }, options);
  const message = Promise.withResolvers<unknown>();
  const closed = Promise.withResolvers<void>();
  Object.assign(transport, { onmessage: message.resolve, onclose: closed.resolve });
  await transport.start();
  return { transport, pids: pidsIn(await message.promise), closed: closed.promise };
}

function pidsIn(message: unknown): readonly number[] {
  const { params } = message as { readonly params: { readonly pids: readonly number[] } };
  return params.pids;
}

onPosix("closing a stdio server", () => {
  it("closes its stdin, asks with SIGTERM after a while, and kills it at last", async () => {
    const clock = createManualClock();
    const heard: string[] = [];
    let wake = (): void => {};
    const program = `
      process.stdin.on("end", () => console.error("end")).resume();
      process.on("SIGTERM", () => console.error("SIGTERM"));
      setInterval(() => {}, 1000);
      console.error("ready");`;
    const transport = stdioTransport(
      { kind: "stdio", command: process.execPath, args: ["-e", program] },
      {
        clock,
        onStderr(line) {
          heard.push(line);
          wake();
        },
      },
    );
    const hear = async (line: string): Promise<void> => {
      while (heard.at(-1) !== line)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    };
    await transport.start();
    await hear("ready");
    const { pid = 0 } = transport;
    const closing = transport.close();
    await hear("end");
    await clock.advance(1499);
    expect(heard).toEqual(["ready", "end"]);
    await clock.advance(1);
    await hear("SIGTERM");
    await clock.advance(1480);
    expect(isRunning(pid)).toBe(true);
    await clock.advance(20);
    await areGone([pid]);
    await clock.advance(1500);
    await closing;
    expect(heard).toEqual(["ready", "end", "SIGTERM"]);
    expect(clock.pending).toBe(0);
  });

  it("is over within five seconds, whatever the server does", async () => {
    const clock = createManualClock();
    const { transport, pids } = await startScript(STUBBORN, { clock });
    let isClosed = false;
    const closing = transport.close().then(() => (isClosed = true));
    await clock.advance(4999);
    expect(isClosed).toBe(true);
    await closing;
    await areGone(pids);
  });

  onLinux("does not wait for what has ended and was never asked how", async () => {
    const clock = createManualClock();
    // Its child ends, and the program that took the shell's place does not ask about it.
    const { transport, pids } = await startScript(
      `sh -c 'exit 0' & printf '{"jsonrpc":"2.0","method":"pids","params":{"pids":[%s]}}\\n' $!; exec cat`,
      { clock },
    );
    await areGone(pids);
    await transport.close();
    expect(clock.now()).toBe(0);
  });

  it("ends its whole process group, also where nothing in it heeds SIGTERM", async () => {
    const { transport, pids } = await startScript(STUBBORN, { clock: hurriedClock });
    expect(pids.filter(isRunning)).toHaveLength(3);
    await transport.close();
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it("twice is closing once", async () => {
    const { transport } = await startScript(STUBBORN, { clock: hurriedClock });
    let ends = 0;
    Object.assign(transport, { onclose: () => void ends++ });
    await Promise.all([transport.close(), transport.close()]);
    await transport.close();
    expect(ends).toBe(1);
  });

  onLinux(
    "often leaves no process and no descriptor behind",
    async () => {
      const mark = `mark-${process.pid}-${Date.now()}`;
      const round = async (): Promise<void> => {
        const transport = stdioTransport({ kind: "stdio", command: "sh", args: ["-c", "cat", mark] });
        const echoed = Promise.withResolvers<unknown>();
        Object.assign(transport, { onmessage: echoed.resolve });
        await transport.start();
        await transport.send({ jsonrpc: "2.0", method: "echo" });
        expect(await echoed.promise).toEqual({ jsonrpc: "2.0", method: "echo" });
        await transport.close();
      };
      await round();
      const before = descriptors();
      for (let index = 0; index < repeats(10, 100); index++) await round();
      await vi.waitFor(() => expect(descriptors()).toBeLessThanOrEqual(before + 2), { timeout: 60_000, interval: 10 });
      expect(commandLines().filter((line) => line.includes(mark))).toEqual([]);
      expect(process.listenerCount("exit")).toBeLessThan(10);
    },
    60_000,
  );
});

onPosix("a stdio server that ends by itself", () => {
  it("does not leave its children behind", async () => {
    const left = STUBBORN.replace("wait; wait; wait", "exit 0");
    const { pids, closed } = await startScript(left, { clock: hurriedClock });
    await closed;
    await areGone(pids);
  });

  onLinux("is let go of also where a process that left its group holds its pipes", async () => {
    const before = descriptors();
    const escaped = `printf '{"jsonrpc":"2.0","method":"pids","params":{"pids":[%s]}}\\n' $$; exec sleep 1000`;
    const { transport, pids, closed } = await startScript(`setsid sh -c "$0" & read -r line`, {
      clock: hurriedClock,
      args: [escaped],
    });
    await transport.send({ jsonrpc: "2.0", method: "leave" });
    await closed;
    try {
      expect(pids.filter(isRunning)).toEqual(pids);
      await vi.waitFor(() => expect(descriptors()).toBeLessThanOrEqual(before), { timeout: 60_000, interval: 10 });
    } finally {
      for (const pid of pids) process.kill(pid, "SIGKILL");
    }
  });
});

/** Runs a program that has a watchdog and `sleeper`, which begins a group of one process that nothing else keeps or ends. */
function startOwner(program: string): ChildProcessByStdio<Writable, Readable, null> {
  const preamble = `
    import { spawn } from "node:child_process";
    import { createWatchdog } from ${JSON.stringify(new URL("../../../../system/watchdog.ts", import.meta.url).href)};
    const watchdog = createWatchdog();
    const sleeper = () => {
      const child = watchdog.launch(() => spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }));
      child.unref();
      return child.pid;
    };`;
  return spawn(process.execPath, ["--input-type=module", "-e", preamble + program], {
    stdio: ["pipe", "pipe", "ignore"],
  });
}

async function firstLine({ stdout }: { readonly stdout: Readable }): Promise<unknown> {
  const [line] = (await once(createInterface(stdout), "line")) as [string];
  return JSON.parse(line);
}

type Owner = Pick<ChildProcessByStdio<Writable, Readable, null>, "pid" | "stdin">;

onPosix("the process that started a stdio server", () => {
  /** Starts a stubborn server, says whom it started, and then does as it is told. */
  const owner = `
    import { stdioTransport } from ${JSON.stringify(new URL("stdio-transport.ts", import.meta.url).href)};
    const transport = stdioTransport({ kind: "stdio", command: "sh", args: ["-c", ${JSON.stringify(STUBBORN)}] });
    transport.onmessage = (message) => console.log(JSON.stringify(message));
    await transport.start();
    process.stdin.on("data", (word) => {
      if (String(word) === "exit") process.exit(0);
      throw new Error(String(word));
    });`;

  it.concurrent.each([
    ["is killed with SIGKILL", ({ pid = 0 }: Owner) => process.kill(pid, "SIGKILL")],
    ["is interrupted at the terminal", ({ pid = 0 }: Owner) => process.kill(-pid, "SIGINT")],
    ["exits without closing", ({ stdin }: Owner) => stdin.end("exit")],
    ["fails", ({ stdin }: Owner) => stdin.end("throw")],
  ])("takes the server's whole group with it where it %s", async (_, end) => {
    const parent = spawn(process.execPath, ["--input-type=module", "-e", owner], {
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const pids = pidsIn(await firstLine(parent));
    const parentPid = parent.pid ?? 0;
    const watchers = process.platform === "linux" ? childrenOf(parentPid).filter((pid) => !pids.includes(pid)) : [];
    expect(pids.filter(isRunning)).toHaveLength(3);
    if (process.platform === "linux") expect(watchers).toHaveLength(1);
    const ended = once(parent, "exit");
    end(parent);
    await ended;
    await areGone([...pids, ...watchers]);
  });

  it("takes the server's group with it on its exit also where there is no shell to watch it", async () => {
    const program = `
      import { spawn } from "node:child_process";
      import { createWatchdog } from ${JSON.stringify(new URL("../../../../system/watchdog.ts", import.meta.url).href)};
      const watchdog = createWatchdog("/no/such/shell");
      const child = watchdog.launch(() => spawn("sh", ["-c", ${JSON.stringify(STUBBORN)}], { detached: true }));
      child.stdout.on("data", (line) => process.stdout.write(line, () => process.exit(0)));`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await areGone(pidsIn(await firstLine(parent)));
  });

  it("takes with it no group that its watchdog was told to forget", async () => {
    const parent = startOwner(`
      const pids = [sleeper(), sleeper(), sleeper()];
      watchdog.forget(pids[1]);
      console.log(JSON.stringify(pids));
      process.stdin.resume();`);
    const [first = 0, forgotten = 0, last = 0] = (await firstLine(parent)) as readonly number[];
    parent.kill("SIGKILL");
    try {
      await areGone([first, last]);
      expect(isRunning(forgotten)).toBe(true);
    } finally {
      process.kill(forgotten, "SIGKILL");
    }
  });

  it("is not kept alive by its watchdog", async () => {
    const parent = startOwner("console.log(JSON.stringify(sleeper()));");
    const exited = once(parent, "exit");
    const pid = Number(await firstLine(parent));
    expect(await exited).toEqual([0, null]);
    await areGone([pid]);
  });

  it("has nothing left that watches its servers or keeps it alive once they are closed", async () => {
    const program = `
      import { stdioTransport } from ${JSON.stringify(new URL("stdio-transport.ts", import.meta.url).href)};
      const transport = stdioTransport({ kind: "stdio", command: "cat" });
      await transport.start();
      await transport.close();
      console.log("closed");
      process.stdin.resume();`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    await once(createInterface(parent.stdout), "line");
    if (process.platform === "linux")
      await vi.waitFor(() => expect(childrenOf(parent.pid ?? 0)).toEqual([]), { timeout: 60_000, interval: 10 });
    parent.stdin.end();
    expect(await once(parent, "exit")).toEqual([0, null]);
  });
});

function descriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function processIds(): readonly number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

/** What a process tells of itself in /proc; empty where it has gone in the meantime. */
function readProcess(pid: number, file: "cmdline" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function commandLines(): readonly string[] {
  return processIds().map((pid) => readProcess(pid, "cmdline"));
}

function childrenOf(parent: number): readonly number[] {
  return processIds().filter((pid) => readProcess(pid, "stat").split(") ")[1]?.split(" ")[1] === String(parent));
}
