import { openPageSession } from "../kit/page-session.ts";
import { stepsOf } from "../kit/page-steps.ts";
import { read } from "../repo/project.ts";
import type { Place } from "./place.ts";
import { environmentOf } from "./shell.ts";

const PAGES = ["library", "gateway", "framework"];

/** Follows each start page to the letter from an empty folder. Only `npm install toolarsenal` installs the packed package instead of a published one. */
export async function startPages({ tarball, node, home }: Place): Promise<void> {
  // npm's own remarks would stand between the lines that the pages show.
  const environment = environmentOf({ home, bin: [node], env: { npm_config_loglevel: "error" } });
  for (const page of PAGES) {
    const session = await openPageSession({}, environment);
    try {
      for (const step of stepsOf(read(`docs/start/${page}.md`))) {
        const isInstall = step.kind === "commands" && step.text.includes("npm install toolarsenal");
        const text = isInstall ? step.text.replace("npm install toolarsenal", `npm install ${tarball}`) : "";
        const printed = await session.take(isInstall ? { ...step, text } : step);
        if (step.kind === "commands" && step.output !== undefined)
          console.log(`  ${page}.md:${step.line} prints what it shows, ${printed.trimEnd().split("\n").length} lines`);
      }
    } finally {
      await session.close();
    }
  }
}
