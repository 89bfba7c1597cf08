import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ToolArsenal, type ToolArsenalParts } from "../arsenal.ts";
import type { Input, Terminal } from "./command.ts";
import { createDemoArsenal } from "./demo/create-demo-arsenal.ts";

/** The configuration file a command uses: the one named, or `arsenal.yaml` here, or none. */
export function configPath(input: Input, terminal: Terminal): string | undefined {
  if (input.config !== undefined) return resolve(terminal.folder, input.config);
  const beside = resolve(terminal.folder, "arsenal.yaml");
  return existsSync(beside) ? beside : undefined;
}

/** The arsenal a command works on: the configured one, or the demo catalog where nothing is configured. */
export async function openArsenal(
  input: Input,
  terminal: Terminal,
  parts: ToolArsenalParts = {},
): Promise<ToolArsenal> {
  const path = configPath(input, terminal);
  if (path !== undefined) return ToolArsenal.fromConfig(path, { ...parts, environment: terminal.environment });
  if (!input.json) terminal.err.write("No arsenal.yaml here: using the demo catalog.\n");
  return createDemoArsenal(parts);
}
