import { enableCompileCache } from "node:module";

// Caching compiled code between runs halves the time until a client that started this program gets its first answer.
enableCompileCache();
const { runCli } = await import("./run-cli.ts");

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second Ctrl-C exits at once.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  });
}
// A reader that closed its end (`| head`) is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

const code = await runCli(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  folder: process.cwd(),
  environment: process.env,
  signal: interrupted.signal,
  onHangup(listener) {
    process.on("SIGHUP", listener);
    return () => process.off("SIGHUP", listener);
  },
});

// A module may have left a connection open, or a cancelled tool may still be running: the process does not wait for them. Output is flushed first.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
