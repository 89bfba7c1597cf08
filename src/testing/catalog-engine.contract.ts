import type { CatalogEngine } from "../catalog/catalog-engine.port.ts";
import { filteringClaims } from "./catalog-engine/filtering.ts";
import { searchingClaims } from "./catalog-engine/searching.ts";
import { sharingClaims } from "./catalog-engine/sharing.ts";
import { storingClaims } from "./catalog-engine/storing.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** Properties of the engine under test. */
export interface CatalogEngineCases {
  /** Creates a second engine on the backend of the last one. Omitted for engines that do not share tools. */
  readonly another?: () => CatalogEngine | Promise<CatalogEngine>;
  /** The maximum error of a cosine, for engines that round vectors. Defaults to 0.00001. */
  readonly cosineError?: number;
}

/** The contract of every catalog engine. Engines are created unopened. */
export function catalogEngineContract(
  make: Make<CatalogEngine>,
  { another, cosineError = 1e-5 }: CatalogEngineCases = {},
): readonly ContractCase[] {
  const makeOpen = async (): Promise<Awaited<ReturnType<typeof make>>> => {
    const made = await make();
    await made.adapter.open();
    return made;
  };
  const alone = contract(makeOpen, { ...storingClaims, ...filteringClaims, ...searchingClaims(cosineError) });
  if (!another) return alone;
  const shared = Object.entries(sharingClaims).map(([name, check]) => [
    name,
    async (engine: CatalogEngine) => {
      const second = await another();
      try {
        await check(engine, () => second.open().then(() => second));
      } finally {
        await second.close();
      }
    },
  ]);
  return [...alone, ...contract(makeOpen, Object.fromEntries(shared))];
}
