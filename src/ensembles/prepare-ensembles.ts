import { internalsOf } from "../arsenal.ts";
import { resolve } from "node:path";
import { descriptorFiles } from "../adapters/sources/descriptor/descriptor-files.ts";
import { descriptorSource } from "../adapters/sources/descriptor/descriptor.ts";
import type { Invocables } from "../adapters/sources/descriptor/invocable.ts";
import type { McpServerSettings } from "../adapters/sources/mcp/settings.ts";
import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { present } from "../base/present.ts";
import { type EnsembleDefinition, ensembleIn, type EnsembleOptions } from "./create-ensemble.ts";
import { type ConnectOptions, type Ensemble, toEnsemble } from "./ensemble.ts";
import { shareArsenal, type SharedArsenal } from "./shared-arsenal.ts";

/** Ensembles to prepare, in order. */
export interface EnsemblesConfiguration {
  readonly ensembles: readonly EnsembleEntry[];
}

/** One ensemble: a TOML file (or a folder of them), an MCP server, or one written in code. */
export type EnsembleEntry =
  | string
  | { readonly file: string; readonly enabled?: boolean; readonly handlers?: Invocables }
  | { readonly server: McpServerSettings; readonly enabled?: boolean }
  | (EnsembleDefinition & { readonly enabled?: boolean });

/** Options to prepare ensembles. */
export interface PrepareOptions extends EnsembleOptions, ConnectOptions {
  /** The base of relative paths. Defaults to the current folder. */
  readonly folder?: string;
  /** Functions by name, for descriptors that name no module. */
  readonly handlers?: Invocables;
  /** `throw`, the default, disconnects everything if one ensemble fails; `report` uses the others and adds the failed one to `failures`. */
  readonly onFailure?: "throw" | "report";
}

/** Connected ensembles. Disposing of the list disconnects them in reverse order. */
export interface PreparedEnsembles extends ReadonlyArray<Ensemble>, AsyncDisposable {
  readonly failures: readonly EnsembleFailure[];
}

/** An entry of the configuration that could not be connected. */
export interface EnsembleFailure {
  readonly entry: EnsembleEntry;
  readonly error: Error;
}

/**
 * Connects every enabled ensemble of a configuration, in order. If one fails, the connected ones are disconnected in reverse order and the error is
 * thrown.
 *
 * @example
 * await using ensembles = await prepareEnsembles({ ensembles: ["ensembles/io.toml", { server: weather }] });
 */
export async function prepareEnsembles(
  configuration: EnsemblesConfiguration,
  options: PrepareOptions = {},
): Promise<PreparedEnsembles> {
  const { signal } = options;
  const shared = shareArsenal(options.arsenal);
  const connected: Ensemble[] = [];
  const failures: EnsembleFailure[] = [];
  const orReport = async (entry: EnsembleEntry, step: () => Promise<void>): Promise<void> => {
    try {
      await step();
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (options.onFailure === "report" && signal?.aborted !== true) return void failures.push({ entry, error });
      // The first failure is already reported, so later ones are ignored.
      await disconnectAll(connected).catch(() => {});
      throw error;
    }
  };
  if (!Array.isArray(configuration?.ensembles)) {
    const value: unknown = configuration?.ensembles;
    const fix = "Call prepareEnsembles({ ensembles: […] }).";
    throw refused(value, `ensembles must be a list, not ${showValue(value)}.`, fix);
  }
  for (const entry of configuration.ensembles)
    await orReport(entry, async () => {
      for (const open of await toOpeners(entry, options, shared))
        await orReport(entry, async () => {
          signal?.throwIfAborted();
          const ensemble = await open();
          await ensemble?.connect({ signal });
          if (ensemble !== undefined) connected.push(ensemble);
        });
    });
  return Object.assign(connected, { failures, [Symbol.asyncDispose]: () => disconnectAll(connected) });
}

/** Disconnects every ensemble, last first, and then throws the first error. */
async function disconnectAll(ensembles: readonly Ensemble[]): Promise<void> {
  const errors: unknown[] = [];
  for (const ensemble of ensembles.toReversed())
    await ensemble.disconnect().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** Creates an ensemble without connecting it; undefined if the ensemble is disabled. */
type OpenEnsemble = () => Promise<Ensemble | undefined>;

async function toOpeners(
  entry: EnsembleEntry,
  options: PrepareOptions,
  shared: SharedArsenal,
): Promise<readonly OpenEnsemble[]> {
  if (typeof entry !== "string" && entry?.enabled === false) return [];
  if (typeof entry === "string" || "file" in entry) {
    const { file, handlers = {} } = typeof entry === "string" ? { file: entry } : entry;
    const files = await descriptorFiles(resolve(options.folder ?? ".", file));
    return files.map((each) => () => fromDescriptor(each, { ...options.handlers, ...handlers }, shared));
  }
  if ("server" in entry) return [async () => fromServer(entry.server, shared)];
  if ("accessInvoker" in entry) {
    const fix = "Pass its definition, { name, invokers }, or connect it yourself with its connect().";
    throw refused(entry.name, `${showValue(entry.name)} is a finished ensemble.`, fix);
  }
  if ("invokers" in entry) return [async () => ensembleIn(entry, shared)];
  const fix = "Write a path, { file }, { server }, or { name, invokers }.";
  throw refused(entry, `${showValue(entry)} is not an ensemble.`, fix);
}

function refused(value: unknown, problem: string, fix: string): ArsenalError {
  return fixable("CONFIG_INVALID", problem, fix, { field: "ensembles", value });
}

/** Returns undefined if the file disables the ensemble. */
async function fromDescriptor(
  file: string,
  handlers: Invocables,
  shared: SharedArsenal,
): Promise<Ensemble | undefined> {
  let source = await descriptorSource({ file, handlers });
  if (!source.enabled) return undefined;
  const { name } = source;
  return toEnsemble(
    {
      name,
      configuration: () => ({ ...source.configuration }),
      async add(arsenal, ensemble, options) {
        source = await descriptorSource({ file, handlers }, { invokerOf: (invoker) => ensemble.invokers.get(invoker) });
        await arsenal.add(source, options);
      },
    },
    shared,
  );
}

function fromServer(server: McpServerSettings, shared: SharedArsenal): Ensemble {
  const { name, timeoutMs, maxConcurrent } = server;
  const configuration = present({ timeout: timeoutMs && timeoutMs / 1000, maxConcurrent });
  return toEnsemble(
    {
      name,
      configuration: () => configuration,
      add: (arsenal, _ensemble, options) => arsenal.addMcpServer(server, options),
      connection: (arsenal) => internalsOf(arsenal).upstreams.find((upstream) => upstream.name === name),
    },
    shared,
  );
}
