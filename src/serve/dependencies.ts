import { type Clock, systemClock } from "../observe/clock.ts";

export type Dependency = "catalog" | "audit" | "state";

/** Checks whether each dependency works. A check that rejects or hangs counts as a failure. */
export type Dependencies = Readonly<Record<Dependency, () => Promise<boolean>>>;

/** Cache time of a result, because any caller may send the request, and it should not burden a store. */
const KEPT_MS = 2_000;

const CHECK_MS = 2_000;

/** Creates a function that lists the failed dependencies. It checks them at most every two seconds, and answers within two seconds. */
export function createProbe(
  dependencies: Dependencies,
  clock: Clock = systemClock,
): () => Promise<readonly Dependency[]> {
  const running = new Map<Dependency, Promise<boolean>>();
  let lookedAt = -Infinity;
  let found: Promise<readonly Dependency[]> | undefined;

  /** Runs at most one check of a dependency at a time: a check that hangs is not started again. */
  function check(name: Dependency): Promise<boolean> {
    const known = running.get(name);
    if (known !== undefined) return known;
    const checking = dependencies[name]()
      .catch(() => false)
      .finally(() => running.delete(name));
    running.set(name, checking);
    return checking;
  }

  async function works(name: Dependency): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const cancel = clock.after(CHECK_MS, () => resolve(false), { background: true });
    return Promise.race([check(name), late]).finally(cancel);
  }

  async function look(): Promise<readonly Dependency[]> {
    const names = Object.keys(dependencies) as readonly Dependency[];
    const working = await Promise.all(names.map(works));
    return names.filter((_, index) => working[index] === false);
  }

  return () => {
    if (found === undefined || clock.now() - lookedAt >= KEPT_MS) {
      lookedAt = clock.now();
      found = look();
    }
    return found;
  };
}
