import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Misbehave, type OtlpCollector, startCollector } from "../../../../test/doubles/otlp-collector.ts";
import { createSurroundings } from "../../../wire/surroundings.ts";
import { resolveConfig } from "../../../config/load/resolve-config.ts";
import type { OpenTelemetrySinkOptions } from "./settings.ts";
import { check } from "./opentelemetry.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function collect(misbehave?: Misbehave): Promise<OtlpCollector> {
  const collector = await startCollector(misbehave);
  open.push(collector);
  return collector;
}

/** What `doctor` finds with these settings: a sentence, or the error. */
async function checked(settings: OpenTelemetrySinkOptions, environment: Record<string, string> = {}): Promise<unknown> {
  const surroundings = createSurroundings(resolveConfig({}), { environment });
  try {
    return await check(settings, surroundings).catch((error: unknown) => error);
  } finally {
    surroundings.egress.close();
  }
}

/** Answers every request with a status. */
const always =
  (status: number, said = ""): Misbehave =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "text/plain" }).end(said);
    return true;
  };

describe("doctor's check of a collector", () => {
  it.each(["http/protobuf", "http/json"] as const)("sends an empty export of each signal over %s", async (protocol) => {
    const paths: string[] = [];
    const { url } = await collect(({ url: path = "" }) => (paths.push(path), false));
    expect(await checked({ otlp: { endpoint: url, protocol } })).toBe(`${url} accepts traces, logs, metrics`);
    expect(paths).toEqual(["/v1/traces", "/v1/logs", "/v1/metrics"]);
    expect(await checked({ otlp: { endpoint: url, protocol, compression: "gzip", metrics: false } })).toBe(
      `${url} accepts traces, logs`,
    );
  });

  it("says what is sent nowhere", async () => {
    expect(await checked({}, { OTEL_SDK_DISABLED: "true" })).toBe("OTLP is off: no signal is sent");
  });

  it("names the address that refuses connections, and its setting", async () => {
    const gone = await startCollector();
    await gone.close();
    expect(await checked({ otlp: { endpoint: gone.url } })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`the collector at ${gone.url} cannot be reached: `),
      details: { field: "telemetry.otlp.endpoint", fix: expect.stringMatching(/Start the collector, or correct tele/) },
    });
    expect(await checked({}, { OTEL_EXPORTER_OTLP_ENDPOINT: gone.url })).toMatchObject({
      details: { field: "OTEL_EXPORTER_OTLP_ENDPOINT" },
    });
  });

  it("names the port for gRPC as the likely cause if the answer is not HTTP", async () => {
    // What an HTTP/2 server without TLS sends to a client that speaks HTTP/1.1: its settings.
    const grpc = createTcpServer((socket) => {
      socket.on("error", () => {}).end(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    });
    grpc.listen(0, "127.0.0.1");
    await once(grpc, "listening");
    open.push(grpc);
    const endpoint = `http://127.0.0.1:${(grpc.address() as AddressInfo).port}`;
    expect(await checked({ otlp: { endpoint } })).toMatchObject({
      details: { fix: expect.stringContaining("HTTP port (4318), not the gRPC one (4317)") },
    });
  });

  it("names the wrong path", async () => {
    const { url } = await collect();
    expect(await checked({ otlp: { endpoint: `${url}/v1/traces` } })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${url}/v1/traces/v1/traces`),
      details: {
        field: "telemetry.otlp.endpoint",
        fix: `Set telemetry.otlp.endpoint to the collector's address without /v1/traces.`,
      },
    });
    expect(
      await checked({}, { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/logs`, OTEL_EXPORTER_OTLP_ENDPOINT: url }),
    ).toMatchObject({
      details: {
        field: "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
        fix: "Set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT to the full address of the collector, which usually ends with /v1/logs.",
      },
    });
  });

  it("says how to turn off a signal that the backend does not take", async () => {
    const { url } = await collect(
      (request, response) => request.url === "/v1/metrics" && always(404)(request, response),
    );
    expect(await checked({ otlp: { endpoint: url } })).toMatchObject({
      message: expect.stringContaining("does not take metrics"),
      details: {
        field: "telemetry.otlp.metrics",
        fix: "Set telemetry.otlp.metrics to false, or correct telemetry.otlp.endpoint.",
      },
    });
  });

  it.each([401, 403])(
    "names the headers if the credentials are refused with %d, and never shows them",
    async (status) => {
      const { url } = await collect((request, response) =>
        request.headers["x-api-key"] === "right" ? false : always(status, "bad key")(request, response),
      );
      const headers = { "x-api-key": "env:OTLP_KEY" };
      const failure = await checked({ otlp: { endpoint: url, headers } }, { OTLP_KEY: "wrong-0123456789" });
      expect(failure).toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("bad key"),
        details: { field: "telemetry.otlp.headers", fix: expect.stringContaining("telemetry.otlp.headers") },
      });
      expect(String(failure)).not.toContain("wrong-0123456789");
      expect(await checked({ otlp: { endpoint: url, headers } }, { OTLP_KEY: "right" })).toContain("accepts traces");
      expect(await checked({ otlp: { endpoint: url, headers } })).toMatchObject({
        details: { field: "telemetry.otlp.headers.x-api-key" },
        message: expect.stringContaining("OTLP_KEY"),
      });
    },
  );

  it("names the encoding if it is refused, and where a redirect leads", async () => {
    const { url } = await collect(always(415));
    expect(await checked({ otlp: { endpoint: url } })).toMatchObject({
      details: { field: "telemetry.otlp.protocol", fix: "Set telemetry.otlp.protocol to http/json." },
    });
    const moved = createServer((_, response) => void response.writeHead(308, { location: url }).end());
    moved.listen(0, "127.0.0.1");
    await once(moved, "listening");
    open.push(moved);
    const endpoint = `http://127.0.0.1:${(moved.address() as AddressInfo).port}`;
    expect(await checked({ otlp: { endpoint } })).toMatchObject({
      details: { field: "telemetry.otlp.endpoint", fix: expect.stringContaining("Redirects are not followed") },
    });
  });
});
