import { describe, expect, it } from "vitest";
import { searchText } from "./conversation-query.ts";

const earlier = [
  { role: "user", content: "hello" },
  { role: "user", content: "refund order 1042" },
  { role: "assistant", content: "Done. Shall I email the customer?" },
  { role: "user", content: "yes please" },
];

describe("searchText", () => {
  it("is the request alone where the request names anything", () => {
    expect(searchText({ query: "send email", recentMessages: earlier })).toBe("send email");
  });
  it("adds the last user messages that name something where the request does not", () => {
    expect(searchText({ query: "do it again", recentMessages: earlier })).toBe("do it again\nrefund order 1042");
  });
  it("adds no more than two", () => {
    const messages = ["first task", "second task", "third task"].map((content) => ({ role: "user", content }));
    expect(searchText({ query: "again", recentMessages: messages })).toBe("again\nsecond task\nthird task");
  });
  it("adds the summary where no message helps [000-4.2-summary]", () => {
    expect(searchText({ query: "that one", conversationSummary: "About refunds." })).toBe("that one\nAbout refunds.");
  });
  it("stays the request where there is nothing to add", () => {
    expect(searchText({ query: "that one" })).toBe("that one");
  });
});
