import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { checkUrl } from "./check-url.ts";

const LOCAL = [
  "http://127.0.0.1/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://api.localhost/",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://0/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[fe80::1]/",
  "http://[fd00:ec2::254]/",
  "http://10.1.2.3/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.64.0.1/",
  "http://198.18.0.1/",
  "http://224.0.0.1/",
  "http://metadata.google.internal/",
  "http://①②⑦.0.0.1/",
  "http://127。0。0。1/",
];

const NOT_REQUESTED = [
  "file:///etc/passwd",
  "ftp://example.com/",
  "data:text/html,x",
  "javascript:alert(1)",
  "http://user:pass@example.com/",
  "http://example.com@127.0.0.1/",
  "http:\\\\example.com\\",
  "http://1.1.1.1 &@example.com/",
  "http://0000::1/",
  "example.com",
  "",
];

const PUBLIC = [
  "https://example.com/",
  "https://8.8.8.8/",
  "https://[2606:4700:4700::1111]/",
  "https://172.15.0.1/",
  "https://172.32.0.1/",
  "https://localhost.example.com/",
  "https://127.0.0.1.example.com/",
  "https://xn--bcher-kva.example/",
];

describe("the address of a request", () => {
  it.each(LOCAL)("%s is refused as this machine or a private network", (url) => {
    expect(() => checkUrl(url)).toThrow(/this machine or a private network/);
  });

  it.each(NOT_REQUESTED)("%j is refused for its form", (url) => {
    expect(() => checkUrl(url)).toThrow(ArsenalError);
  });

  it.each(PUBLIC)("%s may be requested", (url) => {
    expect(checkUrl(url).href).toBe(new URL(url).href);
  });

  it("is private where the operator wrote it and says so", () => {
    expect(checkUrl("http://127.0.0.1:8080/mcp", { allowPrivate: true }).port).toBe("8080");
    expect(() => checkUrl("file:///etc/passwd", { allowPrivate: true })).toThrow(ArsenalError);
  });

  it("is one of the allowed domains, or below one with a star", () => {
    const rules = { allowedDomains: ["api.example.com", "*.example.org"] };
    for (const url of ["https://api.example.com/", "https://API.example.com./", "https://a.b.example.org/"])
      expect(() => checkUrl(url, rules)).not.toThrow();
    for (const url of [
      "https://example.com/",
      "https://x.api.example.com/",
      "https://example.org/",
      "https://evilexample.org/",
    ])
      expect(() => checkUrl(url, rules)).toThrow(/not among the allowed domains/);
  });

  it("is named without its query and credentials where it is refused", () => {
    expect(() => checkUrl("http://10.0.0.1/path?token=secret")).toThrow(/^(?!.*secret)/);
  });
});
