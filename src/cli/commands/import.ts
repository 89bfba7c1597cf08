import { loadSource } from "../../adapters/sources/load-source.ts";
import { sources } from "../../adapters/sources/manifest.ts";
import type { ImportRequest } from "../../adapters/sources/source-adapter.ts";
import { count, harmless, messageOf, nearest } from "../../errors/show-value.ts";
import type { Source } from "../../register/source.port.ts";
import { toRegistrations } from "../../register/to-registrations.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { configFiles, loadConfigured } from "../arsenal/open-arsenal.ts";
import { note } from "../terminal/style.ts";

const adapters = await Promise.all(
  Object.keys(sources).map(async (type) => ({ type, command: (await loadSource(type)).import })),
);

export const command: Command = {
  actions: Object.fromEntries(
    adapters.flatMap(({ type, command: own }) =>
      own === undefined ? [] : [[type, { summary: own.summary, positionals: own.positionals }]],
    ),
  ),
  options: {
    name: { value: "N", description: "The namespace of the tools", fallback: "the source's own name" },
  },
  examples: adapters.flatMap(({ command: own }) => own?.examples ?? []),
  async run(input, terminal) {
    const [type = "", ...words] = input.positionals;
    const own = adapters.find((each) => each.type === type)?.command;
    const opened = (await own?.open(words, toRequest(type, input, terminal))) ?? [];
    let tools = 0;
    let skipped = 0;
    for (const each of opened) {
      tools += await printTools(each.source, terminal).catch((error: unknown) => {
        // If several servers are imported, one may fail. A single server must work.
        if (opened.length === 1) throw error;
        tell(`${each.source.name}: ${messageOf(error)}`, terminal);
        return 0;
      });
      for (const line of each.skipped()) {
        skipped++;
        tell(line, terminal);
      }
    }
    const left = skipped === 0 ? "" : `, ${skipped} left out`;
    note(terminal, `${count(tools, "tool")}${left}`);
    return tools > 0 ? 0 : 1;
  },
};

function toRequest(type: string, input: Input, terminal: Terminal): ImportRequest {
  const { folder, environment } = terminal;
  return {
    folder,
    environment,
    name: input.options["name"],
    async configured(name) {
      const all = await loadConfigured(configFiles(input, terminal), terminal);
      const own = all.sources.filter(({ settings }) => settings.type === type);
      const found = own.find((each) => each.name === name || each.writtenAs === name);
      if (found !== undefined) {
        const { type: _type, ...settings } = found.settings;
        return settings;
      }
      const near = nearest(
        name,
        own.map((each) => each.name),
      );
      if (near !== undefined) tell(`No configured server is named "${name}". Did you mean "${near}"?`, terminal);
      return undefined;
    },
    async clientFile(path) {
      const { readMcpConfigFile } = await import("../../config/clients/mcp-config-file.ts");
      const { showProblem } = await import("../../config/clients/server-problem.ts");
      const { servers, problems } = await readMcpConfigFile(path, environment);
      return { settings: servers, skipped: problems.map((problem) => `Skipped: ${showProblem(problem)}`) };
    },
  };
}

function tell(line: string, { err }: Terminal): void {
  // Text from a document must not control the terminal or span several lines.
  err.write(`${harmless(line).replaceAll(/\s+/g, " ")}\n`);
}

async function printTools(source: Source, terminal: Terminal): Promise<number> {
  const { signal } = terminal;
  try {
    await source.connect({ signal });
    const offered = await source.list({ signal });
    const registrations = await toRegistrations(offered, source, { now: 0 });
    for (const { tool } of registrations) {
      const { id, name, namespace, description, parameters } = tool;
      terminal.out.write(`${JSON.stringify({ id, name, namespace, description, parameters })}\n`);
    }
    return registrations.length;
  } finally {
    await source.disconnect();
  }
}
