#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());
// A reader that closed its end (`| head`) is no error of ours.
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
});

// A module may have left a connection open, or a cancelled tool may still be busy: neither keeps the shell waiting. Output is written out first.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
