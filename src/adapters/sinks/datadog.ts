import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Surroundings } from "../surroundings.ts";
import { type Filled, object, optional, text, texts, whole } from "../../tool/shape/shape.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { ArsenalEvent, EventName } from "../../observe/events.ts";
import type { Labels, MetricRegistry } from "../../observe/metrics/registry.ts";
import type { Sink } from "../../observe/sink.port.ts";
import { createLookout } from "../../state/lookout.ts";
import { divideId } from "../../tool/tool.ts";
import type { OpenTelemetrySinkOptions } from "./opentelemetry/settings.ts";

export interface DatadogSinkOptions {
  /** Address of the Datadog Agent. Defaults to `127.0.0.1`. */
  readonly host?: string;
  /** The DogStatsD port of the Agent. Defaults to 8125. */
  readonly port?: number;
  /** Tags of every metric: `{ env: "prod" }`. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The send interval of counters and gauges, in milliseconds. Defaults to 10,000. */
  readonly intervalMs?: number;
}

/** The arsenal's inputs for the sink. Without metrics, only the durations of calls and retrievals are sent. */
interface DatadogParts {
  readonly clock?: Clock;
  readonly metrics?: () => Promise<MetricRegistry>;
  /** A sink that receives the same events and sends traces and logs. */
  readonly traces?: Sink;
}

/** The most bytes that the Agent reads from one datagram by default. */
const MAX_DATAGRAM = 1_432;

/**
 * Sends metrics to the Datadog Agent by DogStatsD: the durations of calls and retrievals as distributions, and the arsenal's counters and gauges.
 *
 * @example
 * new ToolArsenal({ telemetry: { type: "datadog", datadog: { tags: { env: "prod" } } } });
 */
export function datadogSink(options: DatadogSinkOptions = {}, around: DatadogParts = {}): Sink {
  const { host = "127.0.0.1", port = 8125, tags = {}, intervalMs = 10_000 } = options;
  const { clock = systemClock, metrics, traces } = around;
  const common = Object.entries(tags);
  const sent = new Map<string, number>();
  let opening: Promise<Socket> | undefined;
  let sending: Promise<void> = Promise.resolve();
  const readings = metrics && createLookout(clock, intervalMs, sendMetrics);

  const line = (name: string, value: number, type: "c" | "d" | "g", labels: Labels): string => {
    const all = [...common, ...Object.entries(labels)].map(([tag, word]) => `${safe(tag)}:${safe(word)}`);
    return `${name}:${value}|${type}${all.length === 0 ? "" : `|#${all.join(",")}`}`;
  };

  async function sendLines(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    // A name that does not resolve now may resolve later.
    const socket = await (opening ??= connect(host, port).catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
    for (const datagram of datagrams(lines)) await sendDatagram(socket, datagram);
  }

  async function readMetrics(): Promise<readonly string[]> {
    const families = (await (await metrics?.())?.collect()) ?? [];
    return families.flatMap(({ name, type, series }) =>
      series.flatMap((one) => {
        if (!("value" in one)) return [];
        const { labels, value } = one;
        if (type === "gauge") return [line(toName(name), value, "g", labels)];
        const key = `${name} ${JSON.stringify(labels)}`;
        const growth = value - (sent.get(key) ?? 0);
        sent.set(key, value);
        return growth > 0 ? [line(toName(name), growth, "c", labels)] : [];
      }),
    );
  }

  function sendMetrics(): Promise<void> {
    const send = sending.then(readMetrics).then(sendLines);
    // Failed datagrams are lost, as always with UDP.
    return (sending = send.catch(() => {}));
  }

  return {
    name: "datadog",
    wants: (name, level) => TIMED.has(name) || (traces !== undefined && (traces.wants?.(name, level) ?? true)),
    async write(events) {
      await traces?.write(events);
      await sendLines(events.flatMap((event) => durationLines(event, line)));
    },
    async close() {
      readings?.stop();
      await sendMetrics();
      await traces?.close?.();
      (await opening?.catch(() => {}))?.close();
    },
  };
}

function connect(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    socket.unref();
    // If the Agent is not running, later datagrams are also refused and lost.
    socket.on("error", reject);
    socket.connect(port, host, () => resolve(socket));
  });
}

function sendDatagram(socket: Socket, datagram: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(datagram, (error) => (error === null ? resolve() : reject(error)));
  });
}

const TIMED: ReadonlySet<EventName> = new Set(["call-finished", "retrieval-finished"]);

function durationLines(
  { name, data }: ArsenalEvent,
  line: (name: string, value: number, type: "d", labels: Labels) => string,
): readonly string[] {
  if (name !== "call-finished" && name !== "retrieval-finished") return [];
  const { tenant = "none" } = data;
  if (name === "retrieval-finished")
    return [line("toolarsenal.retrieval_duration_seconds", data.durationMs / 1_000, "d", { tenant })];
  if (data.attempts === 0) return [];
  const labels = { namespace: divideId(data.toolId).namespace || "none", tenant, status: data.status };
  return [line("toolarsenal.call_duration_seconds", data.latencyMs / 1_000, "d", labels)];
}

/** `toolarsenal_calls_total` becomes `toolarsenal.calls` in Datadog. */
function toName(name: string): string {
  return `toolarsenal.${name.replace(/^toolarsenal_/, "").replace(/_total$/, "")}`;
}

/** Removes the separators of tags and metrics from a tag. */
function safe(word: string): string {
  return word.replaceAll(/[\p{Cc}|,#:]/gu, "_").slice(0, 100);
}

function datagrams(lines: readonly string[]): readonly string[] {
  const full: string[] = [];
  let open = "";
  for (const line of lines) {
    const longer = open === "" ? line : `${open}\n${line}`;
    if (open !== "" && Buffer.byteLength(longer) > MAX_DATAGRAM) {
      full.push(open);
      open = line;
    } else open = longer;
  }
  return open === "" ? full : [...full, open];
}

export const config = object("Sends metrics by DogStatsD, and traces and logs by OTLP, to a Datadog Agent.", {
  datadog: optional(
    object("The Datadog Agent.", {
      host: text("Host name or IP address of the Datadog Agent.", "127.0.0.1"),
      port: whole("DogStatsD port of the Datadog Agent.", 1, 65_535, 8125),
      tags: texts("Tags of every metric, such as env: prod.", {}),
      intervalMs: whole("How often counters and gauges are sent, in milliseconds.", 100, 3_600_000, 10_000),
    }),
  ),
});

type Settings = Filled<typeof config> & OpenTelemetrySinkOptions;

/** `otlp` sends traces and logs to the Agent's OTLP port. Metrics are sent only by DogStatsD. */
function withoutMetrics(options: OpenTelemetrySinkOptions): OpenTelemetrySinkOptions {
  return { ...options, otlp: { ...options.otlp, metrics: false } };
}

export async function create({ datadog, ...others }: Settings, surroundings: Surroundings): Promise<Sink> {
  const { openTelemetrySink } = await import("./opentelemetry/opentelemetry.ts");
  const traces = openTelemetrySink(withoutMetrics(others), surroundings);
  const { clock, metrics } = surroundings;
  return datadogSink(datadog, { clock, traces, ...(metrics && { metrics }) });
}

/** How long a refusal from another machine may take. */
const REFUSAL_MS = 250;

function refusalOf(socket: Socket, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(REFUSAL_MS, resolve);
    socket.once("error", (error) => (cancel(), reject(error)));
  });
}

/** Sends an empty datagram, and an empty export of each OTLP signal. UDP never confirms, so only a refusal can be detected. */
export async function check({ datadog, ...others }: Settings, surroundings: Surroundings): Promise<string> {
  const { host = "127.0.0.1", port = 8125 } = datadog ?? {};
  let socket: Socket | undefined;
  try {
    socket = await connect(host, port);
    await Promise.all([refusalOf(socket, surroundings.clock), sendDatagram(socket, "")]);
  } catch (error) {
    const fix = "Start the Datadog Agent with DogStatsD, or correct telemetry.datadog.host and port.";
    const problem = `Cannot reach DogStatsD at ${host}:${port}: ${messageOf(error)}.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "telemetry.datadog" });
  } finally {
    socket?.close();
  }
  const reached = `DogStatsD at ${host}:${port} takes datagrams`;
  const { traces, logs } = others.otlp ?? {};
  if (traces === false && logs === false) return reached;
  const { check: checkOtlp } = await import("./opentelemetry/opentelemetry.ts");
  return `${reached}; ${await checkOtlp(withoutMetrics(others), surroundings)}`;
}
