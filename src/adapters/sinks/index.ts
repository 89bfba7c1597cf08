// From manifest.ts, by `npm run derive`:
export { consoleSink, type ConsoleSinkOptions, type LogFormat } from "./console.ts";
export { datadogSink, type DatadogSinkOptions } from "./datadog.ts";
export { openTelemetrySink } from "./opentelemetry/opentelemetry.ts";
// The rest of toolarsenal/sinks:
export type { ArsenalEvent, EventLevel, EventMap, EventName } from "../../observe/events.ts";
export type { Sink } from "../../observe/sink.port.ts";
