import { isDeepStrictEqual } from "node:util";
import { knownMembers } from "../../config/client-config.ts";
import type { FoundClient, ServerEntry } from "./find-servers.ts";
import { type NeededVariable, withoutSecrets } from "./secrets.ts";

/** The servers of all clients, each once. */
export interface Gathered {
  /** As they go into arsenal.yaml. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  /** The same, with nothing in them that may be secret. */
  readonly shown: Readonly<Record<string, ServerEntry>>;
  readonly variables: readonly NeededVariable[];
  /** What the variables stand for, where the clients' files say it. Never shown. */
  readonly values: ReadonlyMap<string, string>;
  /** Servers that share a name and differ, and what the later is called now. */
  readonly renamed: readonly { readonly client: string; readonly from: string; readonly to: string }[];
}

/** Brings the servers of several clients together. One that two clients have alike is there once; one that differs gets another name. */
export function gather(clients: readonly FoundClient[], inline: boolean): Gathered {
  const originals = new Map<string, ServerEntry>();
  const renamed: { client: string; from: string; to: string }[] = [];
  for (const { client, servers } of clients) {
    for (const [from, entry] of Object.entries(servers)) {
      const known = knownMembers(entry);
      const to = freeName(from, client, known, originals);
      if (to !== from && !originals.has(to)) renamed.push({ client, from, to });
      originals.set(to, known);
    }
  }
  const variables: NeededVariable[] = [];
  const values = new Map<string, string>();
  const shown = [...originals].map(([name, original]) => {
    const { entry, variables: needed } = withoutSecrets(name, original, values);
    variables.push(...needed);
    return [name, entry] as const;
  });
  return {
    servers: Object.fromEntries(inline ? originals : shown),
    shown: Object.fromEntries(shown),
    variables: inline
      ? []
      : variables.filter(({ name }, index) => variables.findIndex((v) => v.name === name) === index),
    values,
    renamed,
  };
}

function freeName(from: string, client: string, entry: ServerEntry, taken: ReadonlyMap<string, ServerEntry>): string {
  const isFree = (name: string): boolean => !taken.has(name) || isDeepStrictEqual(taken.get(name), entry);
  const other = `${from}-${client.toLowerCase().replaceAll(" ", "-")}`;
  if (isFree(from) || isFree(other)) return isFree(from) ? from : other;
  let count = 2;
  while (!isFree(`${other}-${count}`)) count++;
  return `${other}-${count}`;
}
