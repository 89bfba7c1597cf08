import { type Condition, joined } from "./conditions.ts";
import type { Control, Model } from "./control.ts";
import type { Space } from "./driver.ts";
import { isNothing, type NamespaceSum } from "./search.ts";
import { MAIN, type Session } from "./session.ts";
import { setNewest } from "../../../base/remember.ts";

interface ReadState {
  readonly session: Session;
  readonly control: Control;
}

const KEPT_LISTS = 4;
const KEPT_COUNTS = 500;
const LONGEST_KEY = 20_000;
const KEPT_NAMESPACES = 2_000;
/** Enough vectors to represent a namespace. */
const SAMPLED_VECTORS = 256;

export type DatabaseCache = ReturnType<typeof createKept>;

/** Caches results of the database. Each key changes with the data that the result depends on. */
export function createKept() {
  const lists = new Map<string, readonly string[]>();
  let counts = { key: "", values: new Map<string, number>() };
  let sums = { key: "", values: new Map<string, NamespaceSum>() };

  async function sumOf(session: Session, { space, dimension }: Model, namespace: string): Promise<NamespaceSum> {
    const condition = joined([MAIN, { field: "namespace", in: [namespace] }], "all");
    const page = { limit: SAMPLED_VECTORS, parts: ["vector"] } as const;
    const { records } = await session.scroll(space, condition, page);
    const vector = new Float64Array(dimension);
    for (const { vector: own } of records)
      own?.forEach((value, index) => (vector[index] = (vector[index] ?? 0) + value));
    return { vector, count: records.length };
  }

  return {
    /** Returns a list of ids. Only the last few lists are kept. */
    async ids(key: string, read: () => Promise<readonly string[]>) {
      const known = lists.get(key) ?? (await read());
      return setNewest(lists, key, known, KEPT_LISTS);
    },

    async count({ session, control }: ReadState, space: Space, condition: Condition) {
      if (isNothing(condition)) return 0;
      const key = keyOf(control);
      if (counts.key !== key || counts.values.size > KEPT_COUNTS) counts = { key, values: new Map() };
      const { values } = counts;
      const asked = `${space.name} ${JSON.stringify(condition)}`;
      const known = values.get(asked) ?? (await session.count(space, condition));
      if (asked.length < LONGEST_KEY) values.set(asked, known);
      return known;
    },

    async namespaceSums({ session, control }: ReadState, model: Model, namespaces: readonly string[]) {
      const key = keyOf(control);
      if (sums.key !== key || sums.values.size > KEPT_NAMESPACES) sums = { key, values: new Map() };
      const { values } = sums;
      const read = async (namespace: string): Promise<readonly [string, NamespaceSum]> => {
        const asked = `${model.space.name} ${namespace}`;
        const known = values.get(asked) ?? (await sumOf(session, model, namespace));
        values.set(asked, known);
        return [namespace, known];
      };
      return new Map(await Promise.all(namespaces.map(read)));
    },
  };
}

function keyOf({ toolsKey, vectorsKey }: Control): string {
  return `${toolsKey} ${vectorsKey}`;
}
