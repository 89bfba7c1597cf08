import { describe, expect, it } from "vitest";
import { type CallerRules, createCallerCheck, hostInUrl, isLoopback } from "./allowed-callers.ts";

function statusOf(rules: CallerRules, host: string | undefined, origin?: string): number | undefined {
  const headers = { ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) };
  return createCallerCheck(rules)(headers)?.status;
}

const loopback: CallerRules = { host: "127.0.0.1" };

describe("the Host of a request", () => {
  it.each(["localhost", "localhost:8080", "LocalHost:1", "127.0.0.1", "127.0.0.1:3000", "[::1]", "[::1]:8080"])(
    "may be %s on a server bound to loopback",
    (host) => expect(statusOf(loopback, host)).toBe(undefined),
  );

  it.each([
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example#localhost",
    "localhost@evil.example",
    "localhost:8080:80",
    "localhost, evil.example",
    "192.168.1.5",
    "0.0.0.0",
    "::1",
    ":8080",
  ])("may not be %s on a server bound to loopback", (host) => expect(statusOf(loopback, host)).toBe(403));

  it("must be there", () => {
    expect(statusOf(loopback, undefined)).toBe(400);
    expect(statusOf(loopback, "")).toBe(400);
  });

  it("may be the bound host, but then not loopback's names", () => {
    const rules = { host: "gateway.internal" };
    expect(statusOf(rules, "gateway.internal:8080")).toBe(undefined);
    expect(statusOf(rules, "localhost:8080")).toBe(403);
    expect(statusOf({ host: "fd00::7" }, "[fd00::7]:8080")).toBe(undefined);
  });

  it("may be a name that was allowed, with any port", () => {
    const rules = { ...loopback, allowedHosts: ["Tools.Example", "fd00::1", "ported.example:443"] };
    for (const host of ["tools.example", "tools.example:8443", "[fd00::1]", "ported.example"])
      expect(statusOf(rules, host)).toBe(undefined);
    expect(statusOf(rules, "other.example")).toBe(403);
  });

  it.each(["0.0.0.0", "::"])("may be any address, but no name, on a server bound to %s", (host) => {
    for (const called of ["10.1.2.3:8080", "[fd00::1]:8080", "localhost:8080"])
      expect(statusOf({ host }, called)).toBe(undefined);
    for (const called of ["gateway", "evil.example", "[evil]", "10.1.2.3.evil.example"])
      expect(statusOf({ host }, called)).toBe(403);
    expect(statusOf({ host, allowedHosts: ["gateway"] }, "gateway:8080")).toBe(undefined);
  });

  it("that is refused is told what the server is called, and how to allow another", () => {
    expect(createCallerCheck({ host: "gateway", allowedHosts: ["tools.example"] })({ host: "evil.example" })).toEqual({
      status: 403,
      message:
        'Host "evil.example" is not a name of this server. Its names are gateway, tools.example. To allow another name, add it to server.allowed_hosts (allowedHosts in code).',
    });
  });
});

describe("the Origin of a request", () => {
  it.each([
    ["localhost", "http://localhost"],
    ["localhost:8080", "http://localhost:8080"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["[::1]:8080", "http://[::1]:8080"],
    ["LocalHost:8080", "HTTP://LOCALHOST:8080"],
    ["localhost:8443", "https://localhost:8443"],
  ])("called as %s may be its own: %s", (host, origin) => expect(statusOf(loopback, host, origin)).toBe(undefined));

  it.each([
    ["localhost:8080", "http://localhost:3000"],
    ["localhost:8080", "http://localhost"],
    ["localhost:8080", "http://127.0.0.1:8080"],
    ["127.0.0.1:8080", "http://[::1]:8080"],
    ["localhost:8080", "ftp://localhost:8080"],
    ["localhost:8080", "http://localhost:8080/"],
  ])("called as %s may not be another on this machine: %s", (host, origin) =>
    expect(statusOf(loopback, host, origin)).toBe(403),
  );

  it.each([
    "null",
    "",
    "http://evil.example",
    "http://localhost.evil.example",
    "http://localhost:80.evil.example",
    "http://evil.example/http://localhost",
    "http://localhost, http://evil.example",
    "http://user@localhost",
    "file://",
    "chrome-extension://abc",
    "http://192.168.1.5",
  ])("may not be %j", (origin) => expect(statusOf(loopback, "localhost", origin)).toBe(403));

  it("may be one that was allowed, exactly", () => {
    const rules = { ...loopback, allowedOrigins: ["https://App.example", "https://slash.example/", "null"] };
    for (const origin of ["https://app.example", "https://slash.example", "null"])
      expect(statusOf(rules, "localhost", origin)).toBe(undefined);
    for (const origin of ["http://app.example", "https://app.example:8443", "https://sub.app.example"])
      expect(statusOf(rules, "localhost", origin)).toBe(403);
  });

  it("that is refused is told which setting allows it", () => {
    expect(createCallerCheck(loopback)({ host: "localhost:8080", origin: "http://localhost:6274" })).toEqual({
      status: 403,
      message:
        'Web pages from "http://localhost:6274" may not call this server. To allow them, add that origin to server.allowed_origins (allowedOrigins in code).',
    });
  });
});

it.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["localhost", true],
  ["::1", true],
  ["", false],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.1.5", false],
  ["127.evil.example", false],
  ["localhost.example", false],
])("isLoopback(%j) is %s", (host, expected) => expect(isLoopback(host)).toBe(expected));

it("an IPv6 address stands in brackets in a URL", () => {
  expect([hostInUrl("::1"), hostInUrl("127.0.0.1"), hostInUrl("name")]).toEqual(["[::1]", "127.0.0.1", "name"]);
});
