import { count } from "../../../errors/show-value.ts";
import { compareWithRegistries } from "../../../registries/outdated-servers.ts";
import { readLock } from "../../../registries/lock-file.ts";
import type { Command } from "../../command.ts";
import { clip, printList } from "../../terminal/style.ts";
import { openHome } from "./server-home.ts";

export const command: Command = {
  examples: ["outdated", "outdated --json"],
  async run(input, terminal) {
    const { home, registries } = await openHome(input, terminal);
    const found = await compareWithRegistries(await readLock(home.config), registries, { signal: terminal.signal });
    const rows = found.map(({ name, server, version, latest = "", state, reason = "" }) => {
      return [name, server, version, latest, state, clip(reason, 90)];
    });
    const stale = found.filter(({ state }) => state !== "current" && state !== "unknown").length;
    const remark =
      found.length === 0 ? "No server was added with toolarsenal add." : `${count(stale, "server")} to review`;
    printList(input, terminal, { servers: found }, rows, remark);
    return stale === 0 ? 0 : 1;
  },
};
