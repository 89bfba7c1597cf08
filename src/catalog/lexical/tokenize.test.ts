import { describe, expect, it } from "vitest";
import { nameKey, tokenize } from "./tokenize.ts";

const terms = (text: string): string[] => tokenize(text).map(({ term }) => term);

describe("tokenize", () => {
  it("splits identifiers and keeps how people write them in one word", () => {
    expect(terms("getUserFiles")).toEqual(["get", "user", "fil", "getuserfil"]);
    expect(terms("list_open_issues")).toEqual(["list", "open", "issu"]);
    expect(terms("GitHub")).toEqual(["git", "hub", "github"]);
    expect(terms("github")).toEqual(["github"]);
  });

  it("drops the words a request is wrapped in", () => {
    expect(terms("Can you please help me with the refund?")).toEqual(["refund"]);
  });

  it("keeps each word as it was written, beside its term", () => {
    expect(tokenize("Sending Emails")).toEqual([
      { word: "sending", term: "send" },
      { word: "emails", term: "email" },
    ]);
  });

  it("lets accents not matter", () => {
    expect(tokenize("Café")).toEqual([{ word: "cafe", term: "caf" }]);
    expect(terms("naïve Größe")).toEqual(terms("naive Große"));
  });

  it("indexes scripts without spaces by pairs of characters", () => {
    expect(terms("发送邮件")).toEqual(["发送", "送邮", "邮件"]);
  });

  it("finds no word in punctuation and emptiness", () => {
    expect(terms("")).toEqual([]);
    expect(terms("?! … 📧")).toEqual([]);
  });
});

describe("nameKey", () => {
  it("is the same however a name is spelled", () => {
    const spellings = ["query_database", "queryDatabase", "Query database", "query-database", "QUERY_DATABASE"];
    expect(new Set(spellings.map(nameKey))).toEqual(new Set(["querydatabase"]));
  });
});
