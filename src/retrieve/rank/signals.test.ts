import { describe, expect, it } from "vitest";
import { defineTool } from "../../tool/define-tool.ts";
import type { Cost, Health, Tool } from "../../tool/tool.ts";
import { readConversation } from "../understand/conversation-view.ts";
import type { ConversationContext } from "../query.ts";
import { conversationSignal, costSignal, createTagMatcher, healthSignal, signalsOf } from "./signals.ts";
import { DEFAULT_SETTINGS } from "../settings.ts";

function tool(namespace: string, name: string, tags: readonly string[] = [], deprecated = false): Tool {
  return defineTool({
    namespace,
    name,
    tags,
    deprecated,
    description: `The ${name} tool.`,
    parameters: { type: "object" },
  });
}
const mail = tool("mail", "send_email", ["email"]);
const invite = tool("mail", "invite", []);
const search = tool("web", "search", []);
const usedIn = ({ toolsAlreadyUsed = [] }: Partial<ConversationContext>): readonly Tool[] =>
  [mail, invite, search].filter(({ id, name }) => toolsAlreadyUsed.some((used) => used === id || used === name));
const healthy: Health = {
  successRate: 1,
  averageLatencyMs: 0,
  totalCalls: 0,
  consecutiveFailures: 0,
  circuitOpen: false,
};
const conversation = (entry: Tool, context: Partial<ConversationContext>): number =>
  conversationSignal(entry, readConversation({ query: "anything", ...context }, usedIn(context)));

describe("the intent signal", () => {
  const communication = createTagMatcher("anything", new Map([["communication", 1]]));
  it("is 1 where the tags speak for the intent and 0 where they speak of other things", () => {
    expect(communication(["sql", "email"])).toBe(1);
    expect(communication(["query", "search"])).toBe(0);
  });
  it("is neutral without tags, and the same for all tools without an intent", () => {
    const unknown = createTagMatcher("anything", new Map());
    expect(communication([])).toBe(0.5);
    expect(unknown([])).toBe(0.5);
    expect(unknown(["query"])).toBe(0.5);
  });
});

describe("the conversation signal", () => {
  it("is neutral where there is no conversation, or one about other things", () => {
    expect(conversation(mail, {})).toBe(0.5);
    expect(conversation(mail, { recentMessages: [{ role: "user", content: "good morning" }] })).toBe(0.5);
  });
  it("is 1 where messages or the summary name the tool", () => {
    for (const content of ["I ran mail.send_email.", "use `send_email`", "Can you send email?"]) {
      expect(conversation(mail, { recentMessages: [{ role: "assistant", content }] })).toBe(1);
    }
    expect(conversation(mail, { conversationSummary: "They used send_email twice." })).toBe(1);
  });
  it("does not join words across messages", () => {
    const recentMessages = [
      { role: "user", content: "send" },
      { role: "user", content: "email" },
    ];
    expect(conversation(mail, { recentMessages })).toBe(0.5);
  });
  it("is raised for neighbours of a tool just used, by id or bare name", () => {
    expect(conversation(invite, { toolsAlreadyUsed: ["mail.send_email"] })).toBe(0.75);
    expect(conversation(invite, { toolsAlreadyUsed: ["send_email"] })).toBe(0.75);
    expect(conversation(search, { toolsAlreadyUsed: ["send_email"] })).toBe(0.5);
  });
  it("is raised where the namespace is named", () => {
    expect(conversation(invite, { conversationSummary: "All about mail." })).toBe(0.75);
    expect(conversation(invite, { conversationSummary: "An email arrived." })).toBe(0.5);
  });
  it("ignores names that any conversation contains, and the namespace of tools given none", () => {
    expect(conversation(search, { conversationSummary: "A search for cats." })).toBe(0.5);
    expect(conversation(search, { conversationSummary: "web.search found cats." })).toBe(1);
    expect(conversation(tool("default", "invite_guest"), { conversationSummary: "the default answer" })).toBe(0.5);
  });
});

describe("the health signal", () => {
  it("is 1 for a tool never called", () => {
    expect(healthSignal(healthy)).toBe(1);
  });
  it("nears the success rate as calls add up", () => {
    expect(healthSignal({ ...healthy, successRate: 0, totalCalls: 1 })).toBeCloseTo(0.833, 3);
    expect(healthSignal({ ...healthy, successRate: 0.5, totalCalls: 95 })).toBeCloseTo(0.525, 3);
  });
  it("is 0 while the circuit is open", () => {
    expect(healthSignal({ ...healthy, circuitOpen: true })).toBe(0);
  });
});

describe("the cost signal", () => {
  const cost = (given: Cost): number => costSignal(given);
  it("is neutral where nothing is known, or nothing sensible", () => {
    expect(cost({})).toBe(0.5);
    expect(cost({ estimatedLatencyMs: -1, monetaryCost: Number.NaN })).toBe(0.5);
  });
  it("is 1 for what is free and instant, and middling for what is middling", () => {
    expect(cost({ estimatedLatencyMs: 0, monetaryCost: 0 })).toBe(1);
    expect(cost({ estimatedLatencyMs: 1000, monetaryCost: 0.05 })).toBe(0.5);
  });
  it("rises with cheapness and with speed, and never reaches 0", () => {
    expect(cost({ monetaryCost: 0.01 })).toBeGreaterThan(cost({ monetaryCost: 0.02 }));
    expect(cost({ estimatedLatencyMs: 100 })).toBeGreaterThan(cost({ estimatedLatencyMs: 200 }));
    expect(cost({ estimatedLatencyMs: 1e9, monetaryCost: 1e9 })).toBeGreaterThan(0);
  });
});

describe("the penalties", () => {
  const penalties = (entry: Tool, context: Partial<ConversationContext>): readonly number[] => {
    const signals = signalsOf(entry, 0.8, {
      tags: createTagMatcher("anything", new Map()),
      conversation: readConversation({ query: "anything", ...context }, usedIn(context)),
      penalties: DEFAULT_SETTINGS.penalties,
      health: { of: () => healthy },
    });
    return [signals.alreadyUsedPenalty, signals.alreadyFailedPenalty, signals.deprecatedPenalty];
  };
  it("are 0 without cause", () => {
    expect(penalties(mail, { toolsAlreadyUsed: ["other.send_email"], toolsFailed: ["send"] })).toEqual([0, 0, 0]);
  });
  it.each(["send_email", "mail.send_email", "mail.send_email:1.0.0"])("know a tool as %s", (name) => {
    expect(penalties(mail, { toolsAlreadyUsed: [name] })).toEqual([0.05, 0, 0]);
    expect(penalties(mail, { toolsFailed: [name] })).toEqual([0, 0.3, 0]);
  });
  it("count a deprecated tool", () => {
    expect(penalties(tool("mail", "old_send", [], true), {})).toEqual([0, 0, 0.2]);
  });
});
