import type { Emit } from "../observe/events.ts";
import { canonicalJson, contentHash } from "../tool/json/canonical-json.ts";
import type { Tool } from "../tool/tool.ts";
import { setNewest } from "../base/remember.ts";

/** The number of remembered reports, so that no conflict is reported twice. */
const REMEMBERED = 10_000;

const NOT_COMPARED: ReadonlySet<string> = new Set(["id", "createdAt", "ownedByCode", "contentHash"]);

/** Tracks which tools of this process have another definition in the shared catalog. Such an entry is reported, and never used here. */
export function createConflicts(emit: Emit) {
  const inConflict = new Set<string>();
  const reported = new Map<string, true>();

  return {
    /** Ids of tools that this process runs but that have another definition in the catalog. */
    ids: inConflict as ReadonlySet<string>,
    /** Compares a tool of this process with the catalog's entry. Reports each differing entry once. */
    compare(own: Tool, entry: Tool): void {
      // An entry can claim any hash, so the hash is computed.
      const hash = contentHash(entry);
      if (hash === own.contentHash) return void inConflict.delete(own.id);
      inConflict.add(own.id);
      const report = `${own.id} ${hash}`;
      if (reported.has(report)) return;
      setNewest(reported, report, true, REMEMBERED);
      const { id: toolId, ensemble } = own;
      const fields = differingFields(own, entry);
      emit("tool-conflicted", { toolId, ...(ensemble !== undefined && { ensemble }), contentHash: hash, fields });
    },
    /** Drops a conflict: the tool was written again, or no longer belongs to this process. */
    settle: (id: string): void => void inConflict.delete(id),
  };
}

/** Lists the names of the fields in which two tools differ: `capabilities, riskLevel`. */
function differingFields(own: Tool, entry: Tool): string {
  const [before, after] = [own, entry] as unknown as readonly Readonly<Record<string, unknown>>[];
  const names = new Set([...Object.keys(own), ...Object.keys(entry)]);
  return (
    [...names]
      .filter((name) => !NOT_COMPARED.has(name) && canonicalJson(before?.[name]) !== canonicalJson(after?.[name]))
      // An entry may have members with any name.
      .filter((name) => /^[a-zA-Z]{1,30}$/.test(name))
      .sort()
      .slice(0, 30)
      .join(", ")
  );
}
