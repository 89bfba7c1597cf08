import type { CatalogEngine } from "../catalog/catalog-engine.port.ts";
import { filteringClaims } from "./catalog-engine/filtering.ts";
import { searchingClaims } from "./catalog-engine/searching.ts";
import { sharingClaims } from "./catalog-engine/sharing.ts";
import { storingClaims } from "./catalog-engine/storing.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** What the suite must know about an engine. */
export interface CatalogEngineCases {
  /** Makes a second engine on the backend of the one made last. Leave it out for an engine that keeps its tools to itself. */
  readonly another?: () => CatalogEngine | Promise<CatalogEngine>;
  /** How far a cosine may be off, if the engine rounds vectors. Default 0.00001. */
  readonly cosineError?: number;
}

/** What every catalog engine must do. Engines are made unopened. */
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
