import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type HostileServer, type Hostility, startHostile } from "./hostile-servers.ts";

/** What the servers of another process were asked for and wrote. */
export type HostileStatistics = Readonly<
  Record<string, { readonly asked: Readonly<Record<string, number>>; readonly written: number }>
>;

/** Hostile and harmless servers in a process of their own, so that what they cost themselves is not counted. */
export interface HostileProcess {
  /** Their addresses, by name. */
  readonly urls: Readonly<Record<string, string>>;
  statistics(): Promise<HostileStatistics>;
  close(): Promise<void>;
}

/** Starts servers by name; a name that is no kind of hostility is a harmless one. */
export async function startHostileProcess(names: readonly string[]): Promise<HostileProcess> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [JSON.stringify(names)]);
  const [urls] = (await once(child, "message")) as [Record<string, string>];
  return {
    urls,
    async statistics() {
      child.send("statistics");
      return (await once(child, "message"))[0] as HostileStatistics;
    },
    async close() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

async function serve(names: readonly string[]): Promise<void> {
  const servers = new Map<string, HostileServer>();
  for (const name of names)
    servers.set(name, await startHostile(name.startsWith("harmless") ? undefined : (name as Hostility)));
  process.on("message", () => {
    const statistics = Object.fromEntries(
      Array.from(servers, ([name, { asked, written }]) => [name, { asked: Object.fromEntries(asked), written }]),
    );
    process.send?.(statistics satisfies HostileStatistics);
  });
  process.on("disconnect", () => process.exit());
  process.send?.(Object.fromEntries(Array.from(servers, ([name, { url }]) => [name, url])));
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url))
  await serve(JSON.parse(process.argv[2] ?? "[]") as readonly string[]);
