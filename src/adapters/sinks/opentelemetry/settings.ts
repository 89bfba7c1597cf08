import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { programIdentity } from "../../../system/program-identity.ts";
import { decodePercent } from "../../../tool/schema/keywords.ts";
import { readAddress } from "../../service-request.ts";
import { choice, flag, type InputOf, object, optional, text, texts, whole } from "../../../tool/shape/shape.ts";
import type { Attributes } from "./attributes.ts";
import { type Signal, SIGNALS } from "./otlp.ts";

export const config = object("Sends traces, logs and metrics to an OpenTelemetry collector.", {
  level: choice("Lowest level of events that are written. Defaults to warn.", ["debug", "info", "warn", "error"]),
  serviceName: text(
    "Service name in the telemetry. Defaults to OTEL_SERVICE_NAME, then to service.name in OTEL_RESOURCE_ATTRIBUTES, then to tool_arsenal.",
  ),
  otlpEndpoint: text("The same as otlp.endpoint."),
  captureContent: flag(
    "Whether spans contain the text of requests. Defaults to OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, then to false.",
  ),
  otlp: optional(
    object("How telemetry is sent. Omitted settings default to the OTEL_EXPORTER_OTLP_… environment variables.", {
      endpoint: text("URL of the collector, without /v1/traces. Defaults to http://localhost:4318."),
      headers: texts("Headers of every request. Values may be references to secrets."),
      protocol: choice("How requests are encoded. Defaults to http/protobuf.", ["http/protobuf", "http/json"]),
      compression: choice("How requests are compressed. Defaults to none.", ["none", "gzip"]),
      timeoutMs: whole("Timeout of one request, in milliseconds. Defaults to 10000.", 1, 600_000),
      traces: flag("Whether traces are sent. Defaults to true."),
      logs: flag("Whether logs are sent. Defaults to true."),
      metrics: flag("Whether metrics are sent. Defaults to true."),
      queueSize: whole(
        "Maximum number of queued events per signal. If the queue is full, the oldest event is dropped.",
        1,
        1_000_000,
        4096,
      ),
      batchSize: whole("Maximum number of events in one request.", 1, 100_000, 512),
      delayMs: whole("Maximum time that an event waits for a batch, in milliseconds.", 1, 600_000, 5000),
      metricsDelayMs: whole("How often metrics are sent, in milliseconds.", 100, 86_400_000, 60_000),
    }),
  ),
});

/** Settings of the OpenTelemetry sink. All are optional. They default to OpenTelemetry's environment variables, then to fixed values. */
export type OpenTelemetrySinkOptions = InputOf<typeof config>;

type Otlp = NonNullable<OpenTelemetrySinkOptions["otlp"]>;
type Environment = Readonly<Record<string, string | undefined>>;

export interface Target {
  readonly url: URL;
  /** The setting or environment variable that contains `url`. */
  readonly field: string;
  /** Values may be references to secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http/protobuf" | "http/json";
  readonly gzip: boolean;
  readonly timeoutMs: number;
}

/** Merges the configuration with OpenTelemetry's environment variables. The configuration has precedence. Throws CONFIG_INVALID. */
export function resolveSettings(given: OpenTelemetrySinkOptions, environment: Environment) {
  const otlp: Otlp = given.otlp ?? {};
  const { queueSize = 4096, batchSize = 512, delayMs = 5000, metricsDelayMs = 60_000 } = otlp;
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
      maxLength: wholeIn(environment, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT") ?? 1024,
      maxCount: wholeIn(environment, "OTEL_ATTRIBUTE_COUNT_LIMIT") ?? 64,
    },
    queueSize,
    batchSize: Math.min(batchSize, queueSize),
    delayMs,
    metricsDelayMs: wholeIn(environment, "OTEL_METRIC_EXPORT_INTERVAL") ?? metricsDelayMs,
  };
}

function targetOf(signal: Signal, given: OpenTelemetrySinkOptions, environment: Environment): Target {
  const otlp: Otlp = given.otlp ?? {};
  /** Returns the environment variable of the signal, or else the common one. */
  const variable = (name: string): { readonly name: string; readonly value: string } | undefined => {
    for (const each of [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`, `OTEL_EXPORTER_OTLP_${name}`]) {
      const value = environment[each]?.trim();
      if (value !== undefined && value !== "") return { name: each, value };
    }
    return undefined;
  };
  const protocol = otlp.protocol ?? variable("PROTOCOL")?.value ?? "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    const problem = `OTEL_EXPORTER_OTLP_PROTOCOL is ${showValue(protocol)}, which is not supported.`;
    const fix = "Write http/protobuf or http/json, and the collector's HTTP port (4318).";
    throw fixable("CONFIG_INVALID", problem, fix, { field: "OTEL_EXPORTER_OTLP_PROTOCOL", value: protocol });
  }
  return {
    ...addressOf(signal, given, environment),
    headers: otlp.headers ?? pairsIn(variable("HEADERS")?.value),
    protocol,
    gzip: (otlp.compression ?? variable("COMPRESSION")?.value) === "gzip",
    timeoutMs: otlp.timeoutMs ?? wholeIn(environment, variable("TIMEOUT")?.name ?? "") ?? 10_000,
  };
}

/** Returns the address of a signal: below the collector's address, or from the signal's own variable. */
function addressOf(
  signal: Signal,
  given: OpenTelemetrySinkOptions,
  environment: Environment,
): Pick<Target, "url" | "field"> {
  const configured = given.otlp?.endpoint ?? given.otlpEndpoint;
  const valueOf = (variable: string): string => (configured === undefined ? (environment[variable]?.trim() ?? "") : "");
  const own = signalVariable(signal);
  if (valueOf(own) !== "") return { url: readAddress(valueOf(own), own, ADDRESS_FIX), field: own };
  const shared = valueOf("OTEL_EXPORTER_OTLP_ENDPOINT");
  const field = shared === "" ? "telemetry.otlp.endpoint" : "OTEL_EXPORTER_OTLP_ENDPOINT";
  const url = readAddress(configured ?? (shared || "http://localhost:4318"), field, ADDRESS_FIX);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${signal}`;
  return { url, field };
}

/** Returns the name of the environment variable with the full address of one signal. */
export function signalVariable(signal: Signal): string {
  return `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
}

const ADDRESS_FIX = "Write the collector's HTTP address, such as http://localhost:4318.";

function resourceOf({ serviceName }: OpenTelemetrySinkOptions, environment: Environment): Attributes {
  const given = pairsIn(environment["OTEL_RESOURCE_ATTRIBUTES"]);
  const named = environment["OTEL_SERVICE_NAME"]?.trim();
  return {
    "telemetry.sdk.name": "toolarsenal",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": packageVersion(),
    "service.version": packageVersion(),
    ...given,
    "service.name": serviceName ?? (named || (given["service.name"] ?? "tool_arsenal")),
  };
}

export function packageVersion(): string {
  return programIdentity().version;
}

/** Parses `key=value,key=value`, each part percent-encoded. Omits invalid pairs. */
function pairsIn(list = ""): Readonly<Record<string, string>> {
  const pairs = list.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)].map((part) => decodePercent(part.trim()))];
  });
  return Object.fromEntries(pairs);
}

function wholeIn(environment: Environment, name: string): number | undefined {
  const value = environment[name]?.trim();
  return value !== undefined && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined;
}
