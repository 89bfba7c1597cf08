import { readFileSync } from "node:fs";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { choice, flag, type Given, object, optional, text, texts, whole } from "../../settings.ts";
import type { AttributeLimits, Attributes } from "./attributes.ts";
import { type Signal, SIGNALS } from "./otlp.ts";

export const config = object("Traces, logs and metrics for an OpenTelemetry collector.", {
  level: choice("The quietest event that is written; warn by default.", ["debug", "info", "warn", "error"]),
  serviceName: text(
    "The name that telemetry is sent under. Defaults to OTEL_SERVICE_NAME, then service.name in OTEL_RESOURCE_ATTRIBUTES, then tool_arsenal.",
  ),
  otlpEndpoint: text("The same as otlp.endpoint."),
  captureContent: flag(
    "Whether spans contain the words of requests. Defaults to OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, then to false.",
  ),
  otlp: optional(
    object("How telemetry is sent. What is omitted comes from the OTEL_EXPORTER_OTLP_… environment variables.", {
      endpoint: text("Address of the collector, without /v1/traces. Defaults to http://localhost:4318."),
      headers: texts("Headers of every request. Values may be references to secrets."),
      protocol: choice("How requests are encoded; http/protobuf by default.", ["http/protobuf", "http/json"]),
      compression: choice("How requests are compressed; none by default.", ["none", "gzip"]),
      timeoutMs: whole("Time one request may take, in milliseconds; 10,000 by default.", 1, 600_000),
      traces: flag("Whether traces are sent; true by default."),
      logs: flag("Whether logs are sent; true by default."),
      metrics: flag("Whether metrics are sent; true by default."),
      queueSize: whole("Events that wait for each signal. Beyond it the oldest are dropped.", 1, 1_000_000, 4096),
      batchSize: whole("Events in one request.", 1, 100_000, 512),
      delayMs: whole("The longest that an event waits for others, in milliseconds.", 1, 600_000, 5000),
      metricsDelayMs: whole("How often metrics are sent, in milliseconds.", 100, 86_400_000, 60_000),
    }),
  ),
});

/** Settings of the OpenTelemetry sink. All are optional: OpenTelemetry's environment variables fill in, then defaults. */
export type OpenTelemetrySinkOptions = Given<typeof config>;

type Otlp = NonNullable<OpenTelemetrySinkOptions["otlp"]>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Where one signal goes, and how. */
export interface Target {
  readonly url: URL;
  /** The setting or environment variable that `url` comes from. */
  readonly field: string;
  /** Values may be references to secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http/protobuf" | "http/json";
  readonly gzip: boolean;
  readonly timeoutMs: number;
}

/** Everything that configuration and environment say. */
export interface ResolvedSettings {
  /** The signals that are sent. */
  readonly targets: Partial<Readonly<Record<Signal, Target>>>;
  readonly resource: Attributes;
  readonly captureContent: boolean;
  readonly limits: AttributeLimits;
  readonly queueSize: number;
  readonly batchSize: number;
  readonly delayMs: number;
  readonly metricsDelayMs: number;
}

const DEFAULT_ENDPOINT = "http://localhost:4318";
const DEFAULT_LENGTH = 1024;
const DEFAULT_COUNT = 64;

/** Joins the configuration with OpenTelemetry's environment variables. The configuration has precedence. Throws CONFIG_INVALID. */
export function resolveSettings(given: OpenTelemetrySinkOptions, environment: Environment): ResolvedSettings {
  const otlp: Otlp = given.otlp ?? {};
  const own = { queueSize: 4096, batchSize: 512, delayMs: 5000, metricsDelayMs: 60_000, ...otlp };
  const targets: { [Name in Signal]?: Target } = {};
  for (const signal of Object.keys(SIGNALS) as Signal[]) {
    const isOn = otlp[signal] ?? environment[`OTEL_${signal.toUpperCase()}_EXPORTER`]?.trim() !== "none";
    if (isOn && environment["OTEL_SDK_DISABLED"]?.trim().toLowerCase() !== "true")
      targets[signal] = targetOf(signal, given, environment);
  }
  const content = environment["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"];
  return {
    targets,
    resource: resourceOf(given, environment),
    captureContent: given.captureContent ?? content?.trim().toLowerCase() === "true",
    limits: {
      maxLength: wholeIn(environment, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT") ?? DEFAULT_LENGTH,
      maxCount: wholeIn(environment, "OTEL_ATTRIBUTE_COUNT_LIMIT") ?? DEFAULT_COUNT,
    },
    queueSize: own.queueSize,
    batchSize: Math.min(own.batchSize, own.queueSize),
    delayMs: own.delayMs,
    metricsDelayMs: wholeIn(environment, "OTEL_METRIC_EXPORT_INTERVAL") ?? own.metricsDelayMs,
  };
}

function targetOf(signal: Signal, given: OpenTelemetrySinkOptions, environment: Environment): Target {
  const otlp: Otlp = given.otlp ?? {};
  /** A variable of the signal, else the one of all. */
  const variable = (name: string): { readonly name: string; readonly value: string } | undefined => {
    for (const each of [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`, `OTEL_EXPORTER_OTLP_${name}`]) {
      const value = environment[each]?.trim();
      if (value !== undefined && value !== "") return { name: each, value };
    }
    return undefined;
  };
  const protocol = otlp.protocol ?? variable("PROTOCOL")?.value ?? "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    const fix = "Write http/protobuf or http/json, and the collector's HTTP port (4318).";
    const message = `OTEL_EXPORTER_OTLP_PROTOCOL is ${showValue(protocol)}, which is not supported. ${fix}`;
    throw new ArsenalError("CONFIG_INVALID", message, { field: "OTEL_EXPORTER_OTLP_PROTOCOL", value: protocol, fix });
  }
  return {
    ...addressOf(signal, given, environment),
    headers: otlp.headers ?? pairsIn(variable("HEADERS")?.value),
    protocol,
    gzip: (otlp.compression ?? variable("COMPRESSION")?.value) === "gzip",
    timeoutMs: otlp.timeoutMs ?? wholeIn(environment, variable("TIMEOUT")?.name ?? "") ?? 10_000,
  };
}

/** The address of a signal: below that of the collector, or the one that a variable names for this signal alone. */
function addressOf(
  signal: Signal,
  given: OpenTelemetrySinkOptions,
  environment: Environment,
): Pick<Target, "url" | "field"> {
  const configured = given.otlp?.endpoint ?? given.otlpEndpoint;
  const ownField = signalVariable(signal);
  const own = configured === undefined ? environment[ownField]?.trim() : undefined;
  if (own !== undefined && own !== "") return { url: readAddress(own, ownField), field: ownField };
  const shared = configured === undefined ? environment["OTEL_EXPORTER_OTLP_ENDPOINT"]?.trim() : undefined;
  const isShared = shared !== undefined && shared !== "";
  const field = isShared ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "telemetry.otlp.endpoint";
  const url = readAddress(configured ?? (isShared ? shared : DEFAULT_ENDPOINT), field);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${signal}`;
  return { url, field };
}

/** The environment variable with the whole address of one signal. */
export function signalVariable(signal: Signal): string {
  return `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
}

function readAddress(given: string, field: string): URL {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  const fix = "Write the collector's HTTP address, such as http://localhost:4318.";
  throw new ArsenalError("CONFIG_INVALID", `${field} is not an http or https address. ${fix}`, { field, fix });
}

function resourceOf({ serviceName }: OpenTelemetrySinkOptions, environment: Environment): Attributes {
  const given = pairsIn(environment["OTEL_RESOURCE_ATTRIBUTES"]);
  const named = environment["OTEL_SERVICE_NAME"]?.trim();
  return {
    "telemetry.sdk.name": "toolarsenal",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": packageVersion(),
    "service.version": packageVersion(),
    ...given,
    "service.name": serviceName ?? (named === "" ? undefined : named) ?? given["service.name"] ?? "tool_arsenal",
  };
}

/** The version of this package. */
export function packageVersion(): string {
  const manifest = new URL("../../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version;
}

/** `key=value,key=value`, each part percent-encoded. What is not a pair is left out. */
function pairsIn(list = ""): Readonly<Record<string, string>> {
  const pairs = list.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part.trim());
  } catch {
    return part.trim();
  }
}

function wholeIn(environment: Environment, name: string): number | undefined {
  const value = environment[name]?.trim();
  return value !== undefined && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined;
}
