import { describe, expect, it } from "vitest";
import { foldConversation } from "./understand.ts";

const earlier = [
  { role: "user", content: "hello" },
  { role: "user", content: "refund order 1042" },
  { role: "assistant", content: "Done. Shall I email the customer?" },
  { role: "user", content: "yes please" },
];

describe("foldConversation", () => {
  it("takes a request that stands alone by itself, whatever was said before", () => {
    const query = "Create a channel #release-notes in Discord server 88123 with the topic What shipped this week";
    expect(foldConversation({ query, recentMessages: earlier })).toBeUndefined();
  });

  it("folds the turns before it into one that leans on them, latest first", () => {
    const folded = foldConversation({ query: "yes, do it again", recentMessages: earlier.slice(1, 3) });
    expect(folded?.text).toBe(
      "yes, do it again\nearlier: assistant: Done. Shall I email the customer?\nuser: refund order 1042",
    );
  });

  it("gives the conversation more the more the request leans on it, and never all", () => {
    const share = (query: string): number => foldConversation({ query, recentMessages: earlier })?.share ?? 0;
    expect(share("and again")).toBeGreaterThan(share("open the payments dashboard"));
    expect(share("open the payments dashboard")).toBeGreaterThan(0);
    expect(share("and again")).toBeLessThanOrEqual(0.7);
  });

  it("reads the last six turns and the beginning of each", () => {
    const messages = Array.from({ length: 8 }, (_, index) => ({
      role: "tool",
      content: `${index}${"x".repeat(1000)}`,
    }));
    const turns = foldConversation({ query: "and that?", recentMessages: messages })?.text.split("\n") ?? [];
    expect(turns.length).toBe(7);
    expect(turns.at(-1)).toBe(`tool: 2${"x".repeat(399)}`);
  });

  it("takes the summary where there are no turns [000-4.2-summary]", () => {
    const folded = foldConversation({ query: "that one", conversationSummary: "About refunds." });
    expect(folded?.text).toBe("that one\nearlier: About refunds.");
  });

  it("stays the request where there is nothing to fold, and does not fold it into itself", () => {
    expect(foldConversation({ query: "that one" })).toBeUndefined();
    const recentMessages = [{ role: "user", content: "that one" }];
    expect(foldConversation({ query: "that one", recentMessages })).toBeUndefined();
  });
});
