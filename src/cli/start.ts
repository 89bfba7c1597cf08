import module from "node:module";
import { setFlagsFromString } from "node:v8";

// While the heap is small, the running calls survive each collection, and V8 would decide to allocate them in the old generation from then on. There
// each of them keeps all that it refers to alive until the next full collection (docs/decisions/035). It is set before any code is cached, because
// code that was cached with other flags is not used. Deno and Bun do not take flags here.
if (process.versions["deno"] === undefined && process.versions["bun"] === undefined)
  setFlagsFromString("--no-allocation-site-pretenuring");

// Caching compiled code between runs halves the time until a client that started this program gets its first answer. Deno does not have it.
(module as Partial<typeof module>).enableCompileCache?.();
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
