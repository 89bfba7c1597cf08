import { McpServer } from "@modelcontextprotocol/server";
import { memorySkillFiles, SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import { listenAs } from "../e2e/era-server.ts";

const REFUNDS = "---\nname: refunds\ndescription: How to refund an order.\n---\n# Refunds\nSee references/RULES.md.\n";
const FILES = { "refunds/SKILL.md": REFUNDS, "refunds/references/RULES.md": "# Rules\nAsk first.\n" };

/** A server of 2026-07-28 with skills, made with the official SDK. By default it has one. */
export async function startSkillServer(
  files: Readonly<Record<string, string>> = FILES,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const skills = await SkillsExtension.load(memorySkillFiles(files));
  return listenAs("modern", () => {
    const server = new McpServer({ name: "skills", version: "1.0.0" });
    skills.attach(server);
    return server;
  });
}
