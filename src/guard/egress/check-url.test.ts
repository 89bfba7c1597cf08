import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { withinDomains } from "./domain-bound.ts";
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

function refusalOf(check: () => unknown): unknown {
  try {
    check();
  } catch (error) {
    const { code, message, details } = error as ArsenalError;
    return { code, message, details };
  }
  return "not refused";
}

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

  it("is any public one where the list of allowed domains is empty", () => {
    expect(checkUrl("https://example.com/", { allowedDomains: [] }).host).toBe("example.com");
    expect(() => checkUrl("https://10.0.0.1/", { allowedDomains: [] })).toThrow(/private network/);
  });

  it("may be listed by its IPv6 address, with brackets or without", () => {
    for (const domain of ["[2606:4700:4700::1111]", "2606:4700:4700::1111"])
      expect(() => checkUrl("https://[2606:4700:4700::1111]/", { allowedDomains: [domain] })).not.toThrow();
    expect(() => checkUrl("https://[2606:4700:4700::1112]/", { allowedDomains: ["[2606:4700:4700::1111]"] })).toThrow(
      /^A request to .* 2606:4700:4700::1112 is not among the allowed domains/,
    );
  });

  it("may be given as a URL", () => {
    const url = new URL("https://example.com/a?b");
    expect(checkUrl(url)).toBe(url);
  });

  it.each([
    [
      "ftp://example.com/a",
      "A request to ftp://example.com/a is refused: only http and https are requested. Use an https address.",
      { field: "url", value: "ftp://example.com/a", fix: "Use an https address." },
    ],
    [
      "https://example.com/a b?token=secret",
      '"https://example.com/a b?token=secret" is not a URL that can be requested. Write it as https://host/path.',
      { field: "url", value: "https://example.com/a b?token=secret", fix: "Write it as https://host/path." },
    ],
    ...["https://user@example.com/", "https://:secret@example.com/", "https://user:secret@example.com/"].map(
      (url): [string, string, object] => [
        url,
        "A request to https://example.com/ is refused: it carries a user name or password. Send credentials in a header.",
        { field: "url", value: "https://example.com/", fix: "Send credentials in a header." },
      ],
    ),
    [
      "http://10.0.0.1/path?token=secret",
      "A request to http://10.0.0.1/path is refused: 10.0.0.1 is this machine or a private network. Use a public address, or name this one in your own configuration: see docs/guides/egress.md.",
      {
        field: "url",
        value: "http://10.0.0.1/path",
        fix: "Use a public address, or name this one in your own configuration: see docs/guides/egress.md.",
      },
    ],
    [
      "https://example.com:8443/",
      "A request to https://example.com:8443/ is refused: example.com is not among the allowed domains. Allow the domain, or use one of a.test, *.b.test.",
      { field: "url", value: "https://example.com:8443/", fix: "Allow the domain, or use one of a.test, *.b.test." },
    ],
  ])("%s is refused with what to do, and without its query and credentials", (url, message, details) => {
    expect(refusalOf(() => checkUrl(url, { allowedDomains: ["a.test", "*.b.test"] }))).toEqual({
      code: "PERMISSION_DENIED",
      message,
      details,
    });
  });

  it("that a call may not reach is refused with the rule to change", () => {
    const fix = "Add the domain to the egress obligation of the rule that allows the call.";
    expect(refusalOf(() => withinDomains(["a.test"], () => checkUrl("https://b.test/")))).toEqual({
      code: "PERMISSION_DENIED",
      message: `A request to https://b.test/ is refused: b.test is not among the domains that this call may reach. ${fix}`,
      details: { field: "url", value: "https://b.test/", fix },
    });
  });
});
