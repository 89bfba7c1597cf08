/** Preloaded into a process: reports its heap size after a collection on stderr, whenever it receives SIGUSR2. */
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  process.stderr.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
