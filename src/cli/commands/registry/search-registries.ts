import { count } from "../../../errors/show-value.ts";
import { listServers, rankServers } from "../../../registries/find-servers.ts";
import type { Input, Terminal } from "../../command.ts";
import { PROGRAM } from "../../program.ts";
import { clip, printList } from "../../terminal/style.ts";
import { openHome } from "./server-home.ts";

/** Runs `toolarsenal search --registries QUERY`, which lists servers to add, best first. */
export async function searchRegistries(input: Input, terminal: Terminal, limit: number): Promise<number> {
  const { registries, find } = await openHome(input, terminal);
  const { entries, remarks } = await listServers(registries, find);
  for (const remark of remarks) terminal.err.write(`${remark}\n`);
  const ranked = await rankServers(entries, input.positionals[0] ?? "", { limit, signal: terminal.signal });
  const rows = ranked.map(({ server, status, registry }) => {
    const mark = status === "active" ? "" : `(${status}) `;
    return [server.name, server.version, registry, mark + clip(server.description ?? "", 72)];
  });
  const data = {
    servers: ranked.map(({ server, registry, status }) => ({
      name: server.name,
      version: server.version,
      description: server.description ?? "",
      registry,
      status,
      kinds: [
        ...new Set([
          ...(server.packages ?? []).map(({ registryType }) => registryType),
          ...(server.remotes ?? []).map(() => "remote"),
        ]),
      ],
    })),
    remarks,
  };
  printList(
    input,
    terminal,
    data,
    rows,
    `${ranked.length} of ${count(entries.length, "server")}. Add one with: ${PROGRAM} add NAME`,
  );
  return 0;
}
