import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricRegistry } from "./registry.ts";

/** The sampling interval of the lag. */
const RESOLUTION_MS = 20;

/** Declares memory, processor time and event loop lag, under the names that Node dashboards expect. Returns a function that stops sampling. */
export function watchProcess(registry: MetricRegistry): () => void {
  const cpu = registry.counter("process_cpu_seconds_total", "Processor time used, user and system, in seconds.");
  const started = registry.gauge("process_start_time_seconds", "When the process started, in seconds since the epoch.");
  const resident = registry.gauge("process_resident_memory_bytes", "Resident memory, in bytes.");
  const heap = registry.gauge("nodejs_heap_size_used_bytes", "Memory used by JavaScript objects, in bytes.");
  const mean = registry.gauge("nodejs_eventloop_lag_mean_seconds", "Mean event loop lag since the last reading.");
  const p99 = registry.gauge("nodejs_eventloop_lag_p99_seconds", "99th percentile of the lag since the last reading.");
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  started.set(performance.timeOrigin / 1_000);

  registry.onCollect(() => {
    const { user, system } = process.cpuUsage();
    cpu.set((user + system) / 1e6);
    const memory = process.memoryUsage();
    resident.set(memory.rss);
    heap.set(memory.heapUsed);
    mean.set(toLag(delay.mean));
    p99.set(toLag(delay.percentile(99)));
    delay.reset();
  });
  return () => void delay.disable();
}

/** Converts Node's measurement to seconds of lag. Node measures the time between two samples, in nanoseconds. Without samples, the mean is NaN. */
function toLag(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3) || 0;
}
