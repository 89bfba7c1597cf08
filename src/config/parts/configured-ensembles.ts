import { descriptorFiles } from "../../adapters/sources/descriptor/descriptor-files.ts";
import { type DescriptorSource, descriptorSource } from "../../adapters/sources/descriptor/descriptor.ts";
import type { Invocables } from "../../adapters/sources/descriptor/invocable.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Source } from "../../register/source.port.ts";
import { fileTexts, watchFiles } from "../../system/watch-files.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import { reasonOf } from "./start-configured.ts";

/** How one descriptor fared: the ensemble that it is, or why it is none. */
export interface EnsembleReport {
  readonly file: string;
  readonly source?: DescriptorSource;
  readonly error?: Error;
}

/** The part of an arsenal that takes ensembles. */
export interface EnsembleTaker {
  readonly emit: Emit;
  addEnsemble(source: Source): Promise<unknown>;
}

/** Adds the ensembles of every configured TOML file. Invalid ones are reported, and added once their file is fixed, until `close`. Never rejects. */
export async function addEnsembles(
  { ensembles: paths }: Pick<ResolvedConfig, "ensembles">,
  { handlers, clock }: { readonly handlers?: Invocables | undefined; readonly clock: Clock },
  arsenal: EnsembleTaker,
): Promise<{ readonly reports: readonly EnsembleReport[]; close(): Promise<void> }> {
  /** Files that are not right yet, with what they held when they were read. */
  const waiting = new Map<string, string | undefined>();
  const told = new Map<string, string>();
  const watched = watchFiles({ clock, onChange: retry });

  const report = (ensemble: string, { message }: Error): void =>
    arsenal.emit("ensemble-failed", { ensemble, kind: "descriptor", message });

  async function add(file: string): Promise<EnsembleReport> {
    const [text] = await fileTexts([file]);
    try {
      const source = await descriptorSource({ file, ...(handlers ? { handlers } : {}) }, { clock });
      await arsenal.addEnsemble(source);
      waiting.delete(file);
      return { file, source };
    } catch (thrown) {
      const error = reasonOf(thrown);
      waiting.set(file, text);
      if (told.get(file) !== error.message) report(file, error);
      told.set(file, error.message);
      return { file, error };
    }
  }

  async function retry(): Promise<void> {
    for (const file of waiting.keys()) await add(file);
    follow();
  }

  const follow = (): void => watched.follow([...waiting.keys()], [...waiting.values()]);

  const reports: EnsembleReport[] = [];
  for (const path of paths) {
    try {
      for (const file of await descriptorFiles(path)) reports.push(await add(file));
    } catch (thrown) {
      const error = reasonOf(thrown);
      report(path, error);
      reports.push({ file: path, error });
    }
  }
  follow();
  return { reports, close: () => watched.close() };
}
