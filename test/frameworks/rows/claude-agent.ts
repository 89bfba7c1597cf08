import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query, type SDKDeferredToolUse, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { arsenalOptions } from "../../../src/integrations/claude-agent.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

interface SavedRun {
  /** The home of Claude Code, which keeps its sessions. */
  readonly home: string;
  readonly session: string;
  readonly deferred: SDKDeferredToolUse;
}

const PREFIX = "mcp__arsenal__";

interface Resumed {
  readonly earlier: SavedRun;
  readonly answer: "approve" | "deny";
}

async function drive(task: FrameworkTask, prompt: string, home: string, resumed?: Resumed): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, principal, approver, signal } = task;
  const answered = resumed && { deferred: resumed.earlier.deferred, answer: resumed.answer };
  const run = query({
    prompt,
    options: {
      model: "claude-sonnet-4-5",
      systemPrompt: "You help a shop.",
      tools: [],
      settingSources: [],
      cwd: home,
      ...arsenalOptions(arsenal, { limit, principal, approver, ...answered }),
      ...(resumed && { resume: resumed.earlier.session }),
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        ANTHROPIC_API_KEY: "none",
        ANTHROPIC_BASE_URL: new URL(`/named/${PREFIX}`, baseURL).href,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    },
  });
  signal.addEventListener("abort", () => void run.interrupt());
  const names = new Map<string, string>();
  const calls: FrameworkCall[] = [];
  let text = "";
  let session = "";
  let deferred: SDKDeferredToolUse | undefined;
  for await (const message of run) {
    if (message.type === "assistant")
      for (const block of message.message.content)
        if (block.type === "tool_use") names.set(block.id, block.name.slice(PREFIX.length));
    if (message.type === "user" && typeof message.message.content !== "string")
      for (const block of message.message.content) {
        if (block.type !== "tool_result") continue;
        const name = names.get(block.tool_use_id) ?? "";
        calls.push({ name, failed: block.is_error === true, text: JSON.stringify(block.content) });
      }
    if (message.type !== "result") continue;
    session = message.session_id;
    if (message.subtype === "success") ({ result: text, deferred_tool_use: deferred } = message);
  }
  const saved = deferred && JSON.stringify({ home, session, deferred } satisfies SavedRun);
  return { text, calls, progress: [], ...(saved !== undefined && { saved }) };
}

export const row: FrameworkRow = {
  skipped: {
    progress: "Claude Code takes MCP progress notifications and shows none of them in its messages",
  },
  ownTools: [
    tool("double", "Doubles a number", { x: z.number() }, async ({ x }) => {
      return { content: [{ type: "text", text: String(x * 2) }] };
    }),
  ],
  async run(task) {
    const home = mkdtempSync(join(tmpdir(), "toolarsenal-claude-"));
    const ended = await drive(task, task.prompt, home);
    // A run that waits needs its session once more.
    if (ended.saved === undefined) rmSync(home, { recursive: true, force: true });
    return ended;
  },
  async resume(task, saved, answer) {
    const earlier = JSON.parse(saved) as SavedRun;
    const ended = await drive(task, "", earlier.home, { earlier, answer });
    rmSync(earlier.home, { recursive: true, force: true });
    return ended;
  },
};
