import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { createFileRegistry, type DescMessage, fromBinary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import descriptors from "./otlp.descriptors.json" with { type: "json" };

/** A real HTTP server that takes OTLP and decodes it with the official descriptors. It refuses what they do not know. */
export interface OtlpCollector {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  spans(): readonly ReceivedSpan[];
  logs(): readonly ReceivedItem[];
  metrics(): readonly ReceivedItem[];
  /** Resolves as soon as `isThere` holds, which is asked again after each request. */
  until(isThere: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A span, log record or metric as JSON, with its attributes as an object. */
export type ReceivedItem = Readonly<Record<string, unknown>> & {
  readonly attributes: Readonly<Record<string, unknown>>;
};
export type ReceivedSpan = ReceivedItem & {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: string; readonly message?: string };
};

/** How a collector answers instead of taking what it is sent. Returns true if it did. */
export type Misbehave = (request: IncomingMessage, response: ServerResponse) => boolean;

const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, Buffer.from(descriptors.fileDescriptorSet, "base64")),
);

/** The official description of a message, by its name below `opentelemetry.proto`. */
function otlpMessage(name: string): DescMessage {
  const found = registry.getMessage(`opentelemetry.proto.${name}`);
  if (found === undefined) throw new Error(`There is no message ${name}.`);
  return found;
}

const REQUESTS: Readonly<Record<string, readonly [message: string, scopes: string, items: string]>> = {
  "/v1/traces": ["collector.trace.v1.ExportTraceServiceRequest", "scopeSpans", "spans"],
  "/v1/logs": ["collector.logs.v1.ExportLogsServiceRequest", "scopeLogs", "logRecords"],
  "/v1/metrics": ["collector.metrics.v1.ExportMetricsServiceRequest", "scopeMetrics", "metrics"],
};

/** Listens on a free port of this machine. */
export async function startCollector(misbehave: Misbehave = () => false): Promise<OtlpCollector> {
  const requests: ReceivedRequest[] = [];
  const received: Record<string, ReceivedItem[]> = { "/v1/traces": [], "/v1/logs": [], "/v1/metrics": [] };
  const waiting = new Set<() => void>();

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = "", headers } = request;
    if (misbehave(request, response)) return;
    const raw = await buffer(request);
    const [message, scopes, items] = REQUESTS[path] ?? [];
    const known = received[path];
    if (message === undefined || scopes === undefined || items === undefined || known === undefined)
      return void response.writeHead(404).end();
    const body = headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
    try {
      const json = decode(otlpMessage(message), body, headers["content-type"] ?? "");
      const [all = []] = Object.values(json) as Record<string, JsonValue>[][];
      for (const one of all) {
        const { resource } = one as unknown as { resource: { attributes: KeyValue[] } };
        requests.push({ path, headers, resource: plainAttributes(resource.attributes) });
        for (const scope of one[scopes] as unknown as Record<string, Record<string, unknown>[]>[])
          for (const item of scope[items] ?? [])
            known.push({ ...item, attributes: plainAttributes((item["attributes"] ?? []) as KeyValue[]) });
      }
      response.writeHead(200, { "content-type": headers["content-type"] ?? "" }).end();
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
    for (const check of waiting) check();
  }

  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => (received["/v1/traces"] ?? []) as unknown as ReceivedSpan[],
    logs: () => received["/v1/logs"] ?? [],
    metrics: () => received["/v1/metrics"] ?? [],
    until: (isThere) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!isThere()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Decodes a request and refuses fields that the descriptors do not have. Ids are hexadecimal, as OTLP's JSON has them. */
function decode(message: DescMessage, body: Buffer, type: string): Readonly<Record<string, JsonValue>> {
  const isJson = type === "application/json";
  const read = isJson
    ? fromJson(message, withIds(JSON.parse(body.toString()) as JsonValue, "hex", "base64"))
    : fromBinary(message, body);
  refuseUnknown(read);
  return withIds(toJson(message, read), "base64", "hex") as Record<string, JsonValue>;
}

function refuseUnknown(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  const { $unknown } = value as { readonly $unknown?: readonly unknown[] };
  if ($unknown !== undefined && $unknown.length > 0) throw new Error(`Unknown fields: ${JSON.stringify($unknown)}`);
  for (const each of Object.values(value)) refuseUnknown(each);
}

const IDS: ReadonlySet<string> = new Set(["traceId", "spanId", "parentSpanId"]);

function withIds(value: JsonValue, from: BufferEncoding, to: BufferEncoding): JsonValue {
  if (Array.isArray(value)) return value.map((each) => withIds(each, from, to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      IDS.has(key) ? Buffer.from(String(each), from).toString(to) : withIds(each as JsonValue, from, to),
    ]),
  );
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function plainAttributes(attributes: readonly KeyValue[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: Readonly<Record<string, unknown>>): unknown {
  const [[kind, held] = ["", undefined]] = Object.entries(value);
  if (kind === "intValue") return Number(held);
  if (kind !== "arrayValue") return held;
  return ((held as { values?: Readonly<Record<string, unknown>>[] }).values ?? []).map(plainValue);
}
