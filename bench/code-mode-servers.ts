import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolArsenal } from "../src/arsenal.ts";
import { peerProgram } from "../test/peers/peers.ts";
import type { Calling, Task } from "./code-mode-tasks.ts";

const NAMES = ["april", "august", "december", "february", "january", "july", "june", "march", "may", "november"];
const SUPPLIERS = new Set(["april", "june", "november"]);
const TALK =
  "We went through the open questions, one after the other, and wrote down who takes care of each until next month. ";

/** Three MCP servers that `npm ci` installs, as processes, with ten notes in the folder of the file server. */
export async function addRealServers(arsenal: ToolArsenal) {
  const root = mkdtempSync(join(tmpdir(), "toolarsenal-code-mode-"));
  const notes = join(root, "notes");
  mkdirSync(notes);
  for (const name of NAMES) {
    const decided = SUPPLIERS.has(name) ? "Decided: change the supplier." : "Decided: nothing.";
    writeFileSync(join(notes, `${name}.md`), `# ${name}\n\n${TALK.repeat(6)}\n\n${decided}\n`);
  }
  const servers = [
    { name: "everything", args: ["stdio"] },
    { name: "filesystem", args: [notes] },
    { name: "memory", args: [], env: { MEMORY_FILE_PATH: join(root, "memory.jsonl") } },
  ];
  for (const { name, args, env = {} } of servers) {
    const { file } = peerProgram(`@modelcontextprotocol/server-${name}`);
    const transport = { kind: "stdio" as const, command: process.execPath, args: [file, ...args], env };
    await arsenal.addMcpServer({ name, transport, trustAnnotations: true });
  }
  const listed = (await arsenal.listTools()).filter(({ namespace }) => servers.some(({ name }) => name === namespace));
  return { tools: listed.length, tasks: noteTasks(notes), remove: () => rmSync(root, { recursive: true }) };
}

interface FileText {
  readonly content: string;
}

/** One task of one call and one of eleven, over the file server. */
function noteTasks(notes: string): readonly Task[] {
  const path = join(notes, "may.md");
  return [
    {
      request: "What does the note of May say?",
      searches: ["read a text file"],
      isSingle: true,
      calls: (call) => call("filesystem.read_text_file", { path }),
      program: `await filesystem.read_text_file(${JSON.stringify({ path })})`,
    },
    {
      request: `In which notes in ${notes} is a supplier mentioned?`,
      searches: ["list the files in a directory", "read a text file"],
      async calls(call: Calling) {
        const { content } = (await call("filesystem.list_directory", { path: notes })) as FileText;
        const names = content.match(/\w+\.md/g) ?? [];
        const texts = await call.all(
          names.map((name) => ["filesystem.read_text_file", { path: join(notes, name) }] as const),
        );
        return names.filter((_, n) => (texts[n] as FileText).content.includes("supplier"));
      },
      program: `const root = ${JSON.stringify(notes)};
const { content } = await filesystem.list_directory({ path: root });
const names = content.match(/\\w+\\.md/g);
const notes = await parallel(names, 5, (name) => filesystem.read_text_file({ path: root + "/" + name }));
names.filter((_, n) => notes[n].content.includes("supplier"))`,
    },
  ];
}
