#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());
// A reader that closed its end (`| head`) is no error of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  folder: process.cwd(),
  environment: process.env,
  signal: interrupted.signal,
});
