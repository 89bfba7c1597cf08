import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A Chroma server of its own, in a temporary folder. */
export interface RealChroma {
  readonly url: string;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const BINDING = join(import.meta.dirname, "../peers/node_modules/chromadb-js-bindings-linux-x64-gnu");
const START_MS = 30_000;

/** Starts the server that Chroma publishes on npm. Undefined, with a printed reason, if it is not installed; with CI=true that is an error. */
export async function realChroma(): Promise<RealChroma | undefined> {
  if (!existsSync(BINDING)) {
    const reason = "No Chroma server: run node test/peers/install.ts on x64 Linux.";
    if (process.env["CI"] === "true") throw new Error(reason);
    process.stderr.write(`Skipped: ${reason}\n`);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "ta-chroma-"));
  const port = await freePort();
  const command = ["chroma", "run", "--path", folder, "--host", "127.0.0.1", "--port", String(port)];
  const program = `require(${JSON.stringify(BINDING)}).cli(${JSON.stringify(command)})`;
  // Its server runs on the main thread of the process and does not hear of signals, so it is killed.
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (text: Buffer) => (log = `${log}${String(text)}`.slice(-10_000)));
  const exited = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const remove = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const until = Date.now() + START_MS;
  while (!(await isUp(url))) {
    if (child.exitCode !== null || Date.now() > until) {
      await remove();
      throw new Error(`Chroma did not start: ${log}`);
    }
    await delay(50);
  }
  return { url, remove };
}

async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/api/v2/heartbeat`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
