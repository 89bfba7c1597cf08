/** Loaded into a process before its program: says on stderr how much its heap holds after a collection, whenever SIGUSR2 asks. */
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  process.stderr.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
