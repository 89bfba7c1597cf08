import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TEST_AUTHORITY, TEST_SERVER_ONE, TEST_SERVER_TWO } from "../../../test/test-certificates.ts";
import { createEgress } from "./egress.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

it("is shown on the connections of the fork that has it, and on no other", async () => {
  const asking = { ca: TEST_AUTHORITY, requestCert: true, rejectUnauthorized: false };
  const server = createServer({ ...TEST_SERVER_ONE, ...asking }, ({ socket }, response) => {
    const { subject } = (socket as TLSSocket).getPeerCertificate();
    response.end(subject === undefined ? "nobody" : "somebody");
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  cleanUp.defer(() => new Promise((closed) => void server.close(() => closed())));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const egress = createEgress({ allowPrivate: true });
  const ca = TEST_AUTHORITY;
  const { cert, key } = TEST_SERVER_TWO;
  const [anonymous, certified] = [egress.fork({ ca }), egress.fork({ ca, cert, key })];
  for (const each of [egress, anonymous, certified]) cleanUp.defer(() => each.close());

  const get = async (by: typeof egress): Promise<string> => text((await by.request(url)).body);
  expect(await get(anonymous)).toBe("nobody");
  expect(await get(certified)).toBe("somebody");
  expect(await get(certified.fork())).toBe("somebody");
  await expect(get(egress)).rejects.toMatchObject({ code: "TRANSPORT_FAILED", details: { beforeSend: true } });
});
