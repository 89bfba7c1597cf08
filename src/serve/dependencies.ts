import { type Clock, systemClock } from "../observe/clock.ts";

export type Dependency = "catalog" | "audit" | "state";

/** Tells of each dependency whether it works now. One that rejects or hangs does not work. */
export type Dependencies = Readonly<Record<Dependency, () => Promise<boolean>>>;

/** How long an answer is kept: anybody may ask, and a store should not feel it. */
const KEPT_MS = 2_000;

/** A dependency that takes longer does not work. */
const CHECK_MS = 2_000;

/** Creates a function that lists the dependencies that do not work. It looks every two seconds at most, and answers within two. */
export function createProbe(
  dependencies: Dependencies,
  clock: Clock = systemClock,
): () => Promise<readonly Dependency[]> {
  const running = new Map<Dependency, Promise<boolean>>();
  let lookedAt = -Infinity;
  let found: Promise<readonly Dependency[]> | undefined;

  /** One check at a time: one that hangs is not asked again. */
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
