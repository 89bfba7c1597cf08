import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgress, type Egress } from "./egress.ts";
import { isPrivate, withoutTrust } from "./without-trust.ts";

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: `http://localhost:${port()}/` });
    response.end("inside");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${port()}`;
});
afterAll(() => void server.close());
const port = (): number => (server.address() as AddressInfo).port;

const outcome = (egress: Egress, address: string, asked = {}): Promise<unknown> =>
  egress.request(address, { trusted: true, allowPrivate: true, ...asked }).then(
    ({ body }) => text(body),
    ({ code }: { code: string }) => code,
  );

describe("a way out that trusts no address", () => {
  it("does not reach this machine, whatever a source says of its own address", async () => {
    const egress = withoutTrust(createEgress(), []);
    expect(await outcome(egress, url)).toBe("PERMISSION_DENIED");
    expect(await outcome(egress.fork(), url)).toBe("PERMISSION_DENIED");
    expect(() => egress.connect(url, { trusted: true, allowPrivate: true })).toThrow("a private network");
    egress.close();
  });

  it("does not reach it by a name that resolves to it", async () => {
    const resolve = (_host: string, found: (error: null, addresses: { address: string; family: number }[]) => void) =>
      found(null, [{ address: "127.0.0.1", family: 4 }]);
    const outside = createEgress({}, { resolve });
    const address = url.replace("127.0.0.1", "files.example.com");
    expect(await outcome(outside, address)).toBe("inside");
    expect(await outcome(withoutTrust(outside, []), address)).toBe("PERMISSION_DENIED");
    expect(await outcome(withoutTrust(outside, ["*.example.com"]), address)).toBe("inside");
    outside.close();
  });

  it("reaches what the configuration lists, and not what that redirects to", async () => {
    const rules = { allowedDomains: ["127.0.0.1"] };
    const egress = withoutTrust(createEgress(rules), rules.allowedDomains);
    expect(await outcome(egress, url)).toBe("inside");
    const socket = egress.connect(url);
    socket.destroy();
    expect(await outcome(egress, `${url}/away`)).toBe("PERMISSION_DENIED");
    expect(await outcome(egress, "https://example.com")).toBe("PERMISSION_DENIED");
    egress.close();
  });
});

it.each([
  ["http://127.0.0.1:9/mcp", true],
  ["https://localhost", true],
  ["ws://[::1]/", true],
  ["http://169.254.169.254/latest", true],
  ["http://printer.local", true],
  ["http://2130706433/", true],
  ["https://api.example.com", false],
  ["wss://93.184.216.34/", false],
  ["not an address", false],
])("%s is private: %s", (address, expected) => {
  expect(isPrivate(address)).toBe(expected);
});
