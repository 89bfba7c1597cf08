/** One claim about an adapter. Running it rejects if the claim does not hold. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}

/** Creates a new adapter for each case. `dispose` releases its resources. */
export type Make<Adapter> = () =>
  | Promise<{ readonly adapter: Adapter; dispose?(): Promise<void> }>
  | { readonly adapter: Adapter; dispose?(): Promise<void> };

/**
 * Builds the cases of a contract suite. Hand them to any test runner:
 *
 * @example
 * for (const { name, run } of toolStoreContract(() => ({ adapter: memory() }))) it(name, run);
 */
export function contract<Adapter>(
  make: Make<Adapter>,
  claims: Readonly<Record<string, (adapter: Adapter) => Promise<void>>>,
): readonly ContractCase[] {
  return Object.entries(claims).map(([name, check]) => ({
    name,
    async run() {
      const { adapter, dispose } = await make();
      try {
        await check(adapter);
      } finally {
        await dispose?.();
      }
    },
  }));
}

/** Generates deterministic numbers in [0, 1), with a linear congruential generator that is sufficient for tests. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
