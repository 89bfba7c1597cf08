import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEgress, type Egress, type EgressResponse } from "./egress.ts";

const BODIES: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync("hello"),
  deflate: deflateSync("hello"),
  br: brotliCompressSync("hello"),
  identity: Buffer.from("hello"),
};

/** Announced as some thirty bytes. */
const BOMB = gzipSync(Buffer.alloc(10_000));

/** Answers in the encoding that `x-encoding` names, whatever else is asked for. */
const server = createServer((request, response) => {
  const encoding = String(request.headers["x-encoding"]);
  response.setHeader("x-accepted", String(request.headers["accept-encoding"]));
  response.setHeader("content-encoding", encoding);
  response.end(request.url === "/bomb" ? BOMB : (BODIES[encoding.trim().toLowerCase()] ?? "hello"));
});
let egress: Egress;

beforeEach(async () => {
  egress = createEgress({ allowPrivate: true });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
});

afterEach(async () => {
  egress.close();
  server.closeAllConnections();
  await new Promise((closed) => void server.close(closed));
});

function ask(encoding: string, maxBytes = 5, path = "/"): Promise<EgressResponse> {
  const headers = { "x-encoding": encoding };
  return egress.request(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers, maxBytes });
}

describe("the body of an answer", () => {
  it.each(["gzip", "deflate", "br", "identity", "GZip"])("that is encoded as %s is read", async (encoding) => {
    const { body, headers } = await ask(encoding);
    expect(await text(body)).toBe("hello");
    expect(headers["x-accepted"]).toBe("gzip, deflate, br");
  });

  it.each(["compress", "gzip, br", "toString"])("that is encoded as %s is refused", async (encoding) => {
    await expect(ask(encoding)).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      message: `The response has the unrequested encoding "${encoding.toLowerCase()}"`,
      details: { field: "content-encoding", value: encoding.toLowerCase() },
    });
  });

  it.each(["gzip", "identity"])("that is longer than allowed fails with what to do, as %s", async (encoding) => {
    const { body } = await ask(encoding, 4);
    await expect(text(body)).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      message: "The answer is longer than 4 bytes. Ask for less, or raise the limit.",
      details: { fix: "Ask for less, or raise the limit." },
    });
  });

  it("that announces little and unfolds into much fails likewise", async () => {
    const { body, headers } = await ask("gzip", 1000, "/bomb");
    expect(Number(headers["content-length"])).toBeLessThan(1000);
    await expect(text(body)).rejects.toThrow(/longer than 1000 bytes/);
  });
});
