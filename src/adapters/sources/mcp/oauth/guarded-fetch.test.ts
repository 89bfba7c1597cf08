import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createEgress } from "../../../../guard/egress/egress.ts";
import { oauthFetch } from "./guarded-fetch.ts";

it("follows no redirect of a request that forbids it", async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(url === "/" ? 302 : 200, url === "/" ? { location: "/elsewhere" } : {}).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const egress = createEgress();
  try {
    const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const fetchFn = oauthFetch(egress, { serverUrl });
    await expect(fetchFn(serverUrl, { redirect: "error" })).rejects.toThrow(/a redirect, which is not followed here/);
    expect(asked).toEqual(["/"]);
    expect((await fetchFn(serverUrl)).status).toBe(200);
    expect(asked).toEqual(["/", "/", "/elsewhere"]);
  } finally {
    egress.close();
    server.close();
  }
});
