import { internalsOf, type ToolArsenal } from "../../arsenal.ts";
import type { SourceReport, Started } from "../../config/start/start-configured.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Terminal } from "../command.ts";

/** Milliseconds until the first notice, and between two notices. */
const [FIRST_MS, NEXT_MS] = [2_000, 10_000] as const;

/** Waits until every configured source was tried. Writes the names of those that take longer than two seconds to `err`. */
export async function sourcesTried(
  arsenal: ToolArsenal,
  { sources, pending }: Started,
  { err, signal, clock = systemClock }: Pick<Terminal, "signal"> & Partial<Pick<Terminal, "err">> & { clock?: Clock },
): Promise<readonly SourceReport[]> {
  const { upstreams, upstreamsAttempted } = internalsOf(arsenal);
  const servers = new Set(upstreams.map(({ name }) => name));
  const attempts = upstreams.map(async ({ name }) => {
    await upstreamsAttempted({ name, signal });
    servers.delete(name);
  });
  let waitedMs = 0;
  let cancel = (): void => {};
  const waitFor = (ms: number): void => {
    cancel = clock.after(ms, () => {
      const names = [...servers, ...pending()].join(", ");
      const hint = "Each has 30 s to connect; connect_timeout_ms changes that for an MCP server.";
      const isFirst = waitedMs === 0;
      waitedMs += ms;
      const text = isFirst
        ? `Waiting for ${names}. ${hint}`
        : `Still waiting for ${names} after ${waitedMs / 1_000} s.`;
      if (names !== "") err?.write(`${text}\n`);
      waitFor(NEXT_MS);
    });
  };
  waitFor(FIRST_MS);
  try {
    const [reports] = await Promise.all([sources, ...attempts]);
    return reports;
  } finally {
    cancel();
  }
}
