import { describe, expect, it } from "vitest";
import { hasSecret, isPerCaller, readReference, referencesIn, replaceReferences } from "./reference.ts";

describe("a reference", () => {
  it.each([
    ["env:TOKEN", { kind: "env", name: "TOKEN" }],
    ["env:_T1_{principal}", { kind: "env", name: "_T1_{principal}" }],
    ["env:{tenant}", { kind: "env", name: "{tenant}" }],
    ["file:/run/a:b", { kind: "file", path: "/run/a:b" }],
    ["file:~/token", { kind: "file", path: "~/token" }],
    ["file:C:\\token", { kind: "file", path: "C:\\token" }],
    ["file:C:/token", { kind: "file", path: "C:/token" }],
    ["keychain:mail/me/too", { kind: "keychain", service: "mail", account: "me/too" }],
  ])("is %s", (text, read) => {
    expect(readReference(text)).toEqual(read);
  });

  it.each([
    "env:1A",
    "env:A-B",
    "env:{other}",
    "env:",
    "env",
    "file:relative",
    "file:./x",
    "file://x",
    "file:C:x",
    "file:x/",
    "keychain:mail",
    "keychain:mail/",
    "keychain:/me",
    "keychain:/",
    "vault:mail/me",
    ":env",
    "",
  ])("is not %j", (text) => {
    expect(readReference(text)).toBeUndefined();
  });
});

describe("a text", () => {
  it("has a secret where it is a reference, or where one is begun in it", () => {
    const texts = ["env:TOKEN", "x ${secret:env:TOKEN}", "x ${secret:", "x env:TOKEN", "${TOKEN}"];
    expect(texts.map(hasSecret)).toEqual([true, true, true, false, false]);
  });

  it("has another secret for each caller where one of its references names the caller", () => {
    const texts = [
      "env:T_{principal}",
      "${secret:env:A} ${secret:file:/run/{tenant}}",
      "${secret:env:A}",
      "{principal} ${secret:env:A}",
      "{tenant}",
    ];
    expect(texts.map(isPerCaller)).toEqual([true, true, false, false, false]);
  });

  it("is its only reference, or holds any number of them", () => {
    expect(["env:A", "${secret:env:A}-${secret:file:/{tenant}/x}", "${secret:}", "none"].map(referencesIn)).toEqual([
      ["env:A"],
      ["env:A", "file:/{tenant}/x"],
      [""],
      [],
    ]);
  });

  it("has values in place of the references that have one", () => {
    const values = new Map([["env:A", "$& and $1"]]);
    expect(replaceReferences("<${secret:env:A}> <${secret:env:B}>", values)).toBe("<$& and $1> <${secret:env:B}>");
  });
});
