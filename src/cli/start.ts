import module from "node:module";

// The compile cache halves the time to the first answer for a client that starts this program. Deno does not have it.
(module as Partial<typeof module>).enableCompileCache?.();

// Node looks up the file, the links and the package of each import, which takes a sixth of a start. The built files need none of this.
// Deno and Bun have no hooks.
const built = new URL("../", import.meta.url).href;
(module as Partial<typeof module>).registerHooks?.({
  resolve(specifier, context, next) {
    const isOwn = /^\..*\.js$/.test(specifier) && context.parentURL?.startsWith(built) === true;
    if (!isOwn) return next(specifier, context);
    return { url: new URL(specifier, context.parentURL).href, format: "module", shortCircuit: true };
  },
});
const { runCli } = await import("./run-cli.ts");

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second Ctrl-C exits immediately.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  });
}
// A reader that closes its end (`| head`) is not an error.
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

// A module may have left a connection open, or a cancelled tool may still be running. The process does not wait for them, but flushes its output.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
