/** Writes docs/walkthroughs from the programs in examples: `npm run walkthroughs`. Each page has the program's text, code and real output. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = new URL("..", import.meta.url);

/** The walkthroughs: each is `examples/NAME/walkthrough.ts`. */
export const WALKTHROUGHS: readonly string[] = ["support-desk", "eight-servers", "api-agent"];

/** A part of a walkthrough: Markdown, and the code after it. */
interface Section {
  readonly prose: string;
  readonly code: string;
}

/** Runs a walkthrough and returns its page. A walkthrough that fails throws, with its output. */
export function walkthroughPage(name: string): string {
  const path = `examples/${name}/walkthrough.ts`;
  const sections = sectionsOf(readFileSync(new URL(path, ROOT), "utf8"));
  const printed = run(name, sections);
  const parts = sections.map(({ prose, code }, at) => {
    const output = (printed[at] ?? "").trimEnd();
    const shown = code === "" ? "" : `\n\`\`\`ts nocheck\n${code}\n\`\`\`\n`;
    return `${prose}\n${shown && `\n<!-- nocheck: a part of a longer program, which a test runs -->${shown}`}${output && `\n\`\`\`text\n${output}\n\`\`\`\n`}`;
  });
  const source = `Every line of code and output on this page comes from [${path}](../../../${path}). Run it without a key: \`node ${path}\` in a copy of the examples.`;
  return `${parts.join("\n").trimEnd()}\n\n${source}\n`;
}

/** Splits a program at its `/* md … *\/` comments, which start in the first column. */
function sectionsOf(text: string): readonly Section[] {
  const parts = text.split(/^\/\* md\n([^]*?)\n\*\/\n/m);
  if (parts[0]?.trim() !== "") throw new Error("A walkthrough starts with a comment /* md … */.");
  const sections: Section[] = [];
  for (let at = 1; at < parts.length; at += 2)
    sections.push({ prose: parts[at] ?? "", code: (parts[at + 1] ?? "").trim() });
  return sections;
}

const MARK = "walkthrough section ends";

/** Runs the program with a mark after each section. Returns the output of each section. */
function run(name: string, sections: readonly Section[]): readonly string[] {
  const marked = sections.map(({ code }) => `${code}\nconsole.log(${JSON.stringify(MARK)});`).join("\n");
  const copy = new URL(`examples/${name}/.walkthrough-${process.pid}.ts`, ROOT);
  writeFileSync(copy, marked);
  try {
    const parameters = ["--conditions=toolarsenal:source", fileURLToPath(copy)];
    const { TOOLARSENAL_TIER: _, OPENAI_API_KEY: __, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, parameters, {
      env,
      cwd: fileURLToPath(ROOT),
      encoding: "utf8",
      timeout: 300_000,
    });
    if (status !== 0) throw new Error(`The walkthrough ${name} failed.\n${stdout}\n${stderr}`);
    return stdout.split(`${MARK}\n`);
  } finally {
    rmSync(copy);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of WALKTHROUGHS) {
    writeFileSync(new URL(`docs/guides/walkthroughs/${name}.md`, ROOT), walkthroughPage(name));
    console.log(`docs/guides/walkthroughs/${name}.md`);
  }
}
