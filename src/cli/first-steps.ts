import type { Terminal } from "./command.ts";
import { styles, wrap } from "./terminal/style.ts";

/** A first step for new users, and its command line. */
interface FirstStep {
  readonly title: string;
  readonly argv: readonly string[];
  readonly more: string;
}

const STEPS: readonly FirstStep[] = [
  { title: "See it work", argv: ["demo"], more: "shows the whole path on a demo catalog, then exits" },
  {
    title: "Put my MCP servers behind one gateway",
    argv: ["setup"],
    more: "finds the servers of Claude, Cursor, VS Code and others, and writes arsenal.yaml",
  },
  { title: "Start a project", argv: ["init"], more: "writes a configuration, a policy and example tools" },
];

/** Returns true if a person can answer prompts. */
export function canAsk({ out, keyboard }: Terminal): boolean {
  const { input } = keyboard ?? { input: process.stdin };
  return out.isTTY === true && input.isTTY === true;
}

/** Offers three first steps. Returns the chosen command line; undefined to show the help instead. */
export async function askFirstStep(terminal: Terminal): Promise<readonly string[] | undefined> {
  const paint = styles(terminal.err, terminal.environment);
  terminal.err.write(`${paint.bold("toolarsenal")}: the tool layer of an agent\n\n`);
  for (const [at, { title, argv, more }] of STEPS.entries()) {
    const about = wrap(`toolarsenal ${argv.join(" ")}: ${more}`, (terminal.err.columns ?? 120) - 7);
    terminal.err.write(`  ${paint.bold(String(at + 1))}  ${title}\n${paint.dim(about).replaceAll(/^/gm, "     ")}\n`);
  }
  const { openKeyboard } = await import("./commands/chat/keyboard.ts");
  const keyboard = openKeyboard(terminal);
  try {
    for (;;) {
      const answer = (await keyboard.ask("\nPress 1, 2 or 3, or Enter for every command: "))?.trim();
      if (answer === undefined || answer === "") return undefined;
      const step = STEPS[Number(answer) - 1];
      if (step !== undefined) return step.argv;
      terminal.err.write(`${JSON.stringify(answer)} is not one of 1, 2 and 3.\n`);
    }
  } finally {
    keyboard.close();
  }
}
