import { describe, expect, it, onTestFinished } from "vitest";
import { type DoubleAnswer, type HttpDouble, startDouble } from "../../test/doubles/http-double.ts";
import type { Clock } from "../observe/clock.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import { createModelApi, endpoint, type ModelApi, type ModelApiOptions } from "./model-api.ts";
import { skippingClock } from "../../test/doubles/skipping-clock.ts";

const TIMEOUT_MS = 30_000;
const KEY = "a-key-that-nobody-may-see";

async function open(
  given: Partial<ModelApiOptions> = {},
  random = () => 0,
): Promise<{ double: HttpDouble; api: ModelApi; clock: ReturnType<typeof skippingClock> }> {
  const double = await startDouble(() => ({ status: 200, body: { fine: true } }));
  const clock = skippingClock(TIMEOUT_MS);
  const options = { provider: "Acme", section: "embedder", url: `${double.url}/v1`, maxRetries: 3 } as const;
  const api = createModelApi(
    { ...options, timeoutMs: TIMEOUT_MS, apiKey: "env:KEY", ...given },
    { clock, random, secrets: createSecrets({ environment: { KEY } }) },
  );
  onTestFinished(async () => {
    api.close();
    await double.close();
  });
  return { double, api, clock };
}

const refused = (status: number, headers: Record<string, string> = {}, message = "not now"): DoubleAnswer => ({
  status,
  headers,
  body: { error: { message } },
});

describe("a model API", () => {
  it("posts JSON with the key, looked up for each request", async () => {
    const { double, api } = await open();
    expect(await api.post({ input: "écrit" })).toEqual({ fine: true });
    expect(double.requests).toMatchObject([
      { method: "POST", path: "/v1", body: { input: "écrit" }, headers: { authorization: `Bearer ${KEY}` } },
    ]);
  });

  it.each([408, 429, 500, 502, 503, 504])("repeats what was refused with %i, later each time", async (status) => {
    const { double, api, clock } = await open({}, () => 0.5);
    double.answerNext(refused(status), refused(status), refused(status));
    expect(await api.post({})).toEqual({ fine: true });
    expect(clock.pauses).toEqual([375, 750, 1500]);
  });

  it.each([400, 401, 403, 404, 413, 422])("does not repeat what was refused with %i", async (status) => {
    const { double, api } = await open();
    double.answerNext(refused(status));
    await expect(api.post({})).rejects.toThrow(`Acme refused the request with status ${status}: not now`);
    expect(double.requests).toHaveLength(1);
  });

  it("repeats a request whose connection broke, and gives up after max_retries", async () => {
    const { double, api } = await open({ maxRetries: 2 });
    double.answerNext("drop", "drop");
    expect(await api.post({})).toEqual({ fine: true });
    double.answerNext("drop", "drop", "drop");
    await expect(api.post({})).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(double.requests).toHaveLength(6);
  });

  it.each([
    ["seconds", { "retry-after": "7" }, 7000],
    ["milliseconds", { "retry-after-ms": "250" }, 250],
    ["a date", { "retry-after": new Date(1_009_000).toUTCString() }, 9000],
  ])("waits as long as Retry-After asks, in %s, and a little longer", async (_how, headers, least) => {
    const { double, api, clock } = await open({}, () => 0.5);
    double.answerNext(refused(429, headers));
    await api.post({});
    expect(clock.pauses).toEqual([least + 250]);
  });

  it("holds back other requests while the provider wants to be left alone", async () => {
    const { double, api, clock } = await open({ maxRetries: 0 });
    double.answerNext(refused(429, { "retry-after": "7" }));
    await expect(api.post({})).rejects.toMatchObject({ code: "RATE_LIMITED", details: { retryAfterMs: 7000 } });
    await api.post({});
    expect(clock.pauses).toEqual([7000]);
  });

  it("says what to check if nothing answers at the address", async () => {
    const { double } = await open();
    await double.close();
    const api = createModelApi({
      provider: "Acme",
      section: "llm",
      url: double.url,
      maxRetries: 0,
      timeoutMs: TIMEOUT_MS,
    });
    const fix = "Check that it is running and that llm.api_base is right.";
    await expect(api.post({})).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringMatching(/^Cannot reach Acme: .*ECONNREFUSED.*[^.]\. Check that it is running/) as string,
      details: { fix },
    });
    api.close();
  });

  it("does not wait for a provider that asks for more than a minute, or says that repeating is pointless", async () => {
    const { double, api, clock } = await open();
    double.answerNext(refused(429, { "retry-after": "3600" }), refused(429, { "x-should-retry": "false" }));
    await expect(api.post({})).rejects.toMatchObject({ code: "RATE_LIMITED", details: { retryAfterMs: 3_600_000 } });
    await expect(api.post({})).rejects.toMatchObject({ code: "RATE_LIMITED" });
    expect(clock.pauses).toEqual([]);
  });

  it.each(["hang", "stall"] as const)("ends an attempt that takes too long: a server that %ss", async (mishap) => {
    const { double, api, clock } = await open({ maxRetries: 0 });
    double.answerNext(mishap);
    const waiting = api.post({});
    await expect.poll(() => double.requests).toHaveLength(1);
    for (const fire of clock.timeouts) fire();
    await expect(waiting).rejects.toMatchObject({ code: "TIMEOUT", message: /within 30000 ms.*embedder\.timeout_ms/ });
  });

  it("stops when it is cancelled, before, during and between attempts", async () => {
    const { double, api } = await open();
    await expect(api.post({}, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    expect(double.requests).toHaveLength(0);
    const during = new AbortController();
    double.answerNext("hang");
    const waiting = api.post({}, { signal: during.signal });
    await expect.poll(() => double.requests).toHaveLength(1);
    during.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    const between = new AbortController();
    double.answerNext(refused(503));
    const clock: Clock = {
      now: () => 0,
      after: (ms) => {
        if (ms < TIMEOUT_MS) queueMicrotask(() => between.abort(new Error("enough")));
        return () => {};
      },
    };

    const other = createModelApi(
      { provider: "Acme", section: "embedder", url: double.url, maxRetries: 3, timeoutMs: TIMEOUT_MS },
      { clock },
    );
    await expect(other.post({}, { signal: between.signal })).rejects.toThrow("enough");
    other.close();
  });

  it("never shows the key, also if the provider repeats it", async () => {
    const { double, api } = await open({ apiKey: "short" });
    double.answerNext(refused(401, {}, "the key short is wrong"));
    const first = await api.post({}).catch((error: Error) => error.message);
    expect(first).toBe(
      "Acme refused the request with status 401: the key [key] is wrong. Check the key that embedder.api_key refers to.",
    );
    const known = await open();
    const encoded = Buffer.from(KEY).toString("base64");
    known.double.answerNext(refused(400, {}, `it said ${KEY}, or ${encoded}`));
    const second = await known.api.post({}).catch(String);
    expect(second).toContain("it said");
    expect(second).not.toContain(KEY);
    expect(second).not.toContain(encoded);
  });

  it("sends no key after a redirect, and says what to set", async () => {
    const { double, api } = await open();
    double.answerNext({ status: 307, headers: { location: "/elsewhere" }, body: "" });
    await expect(api.post({})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { field: "embedder.api_base" },
    });
    expect(double.requests).toHaveLength(1);
  });

  it("reports a key that is not there, an address that is none, and an answer that is not JSON", async () => {
    const missing = await open({ apiKey: "env:NOBODY" });
    await expect(missing.api.post({})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: /api_key of "embedder" refers to env:NOBODY: the variable is not set/,
    });
    expect(() =>
      createModelApi({ provider: "Acme", section: "reranker", url: "acme", maxRetries: 0, timeoutMs: 1 }),
    ).toThrow("reranker.api_base is not an http or https address");
    const { double, api } = await open();
    double.answerNext({ status: 200, body: "<html>" });
    await expect(api.post({})).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
  });

  it("reads no more of an answer than it is told to", async () => {
    const { double, api } = await open({ maxRetries: 0 });
    double.answerNext({ status: 200, body: { long: "x".repeat(5000) } });
    await expect(api.post({}, { maxBytes: 1000 })).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
  });
});

it("endpoint joins an address and a path, and keeps a query", () => {
  expect(endpoint("http://a.example/v1/", "/embeddings")).toBe("http://a.example/v1/embeddings");
  expect(endpoint("http://a.example", "/embed")).toBe("http://a.example/embed");
  expect(endpoint("http://a.example/v1?team=1", "/embed")).toBe("http://a.example/v1/embed?team=1");
});
