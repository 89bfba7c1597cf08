import { askAt } from "../../serve/rest-gateway.ts";

type AuditRecord = Readonly<Record<string, unknown>>;

/** Reads the audit log through a gateway, with the key of an operator unless the caller is local. */
export async function auditOf(url: string, key?: string) {
  const ask = askAt(`${url}/api/v1`);
  const headers = key === undefined ? {} : { "x-api-key": key };

  /** The records that a filter finds, oldest first. */
  async function records(filter: string): Promise<readonly AuditRecord[]> {
    const found: AuditRecord[] = [];
    for (let cursor = ""; ;) {
      const { body } = await ask("GET", `/audit?limit=1000&${filter}${cursor}`, { headers });
      const page = body as { readonly records: readonly AuditRecord[]; readonly next?: string };
      found.push(...page.records);
      if (page.next === undefined) return found.toReversed();
      cursor = `&cursor=${page.next}`;
    }
  }

  return {
    records,
    /** How many records there are of calls of a tool, by the argument `id` of the call. */
    async idsOf(tool: string): Promise<ReadonlyMap<string, number>> {
      const counts = new Map<string, number>();
      for (const record of await records(`kind=call&tool=${tool}`)) {
        const { value } = record["arguments"] as { readonly value: { readonly id: string } };
        counts.set(value.id, (counts.get(value.id) ?? 0) + 1);
      }
      return counts;
    },
    verified: async (): Promise<object> => (await ask("POST", "/audit/verify", { headers, body: {} })).body as object,
  };
}
