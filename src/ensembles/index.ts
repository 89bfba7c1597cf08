export type {
  DescribedInvoker,
  Invocable,
  InvocableContext,
  Invocables,
} from "../adapters/sources/descriptor/invocable.ts";
export {
  type Context,
  createEnsemble,
  createInvoker,
  type CreatedInvoker,
  type EnsembleDefinition,
  type EnsembleOptions,
  type InvokerDefinition,
} from "./create-ensemble.ts";
export type { ConnectOptions, Ensemble, EnsembleConfiguration, InvokeOptions, Invoker } from "./ensemble.ts";
export { deduplicate, type DeduplicateOptions } from "./deduplicate.ts";
export {
  createInvocationsProcessor,
  type ExecuteInvocationsOptions,
  type InvocationsProcessor,
  type InvocationsProcessorOptions,
  type PrepareToolsOptions,
} from "./invocations.ts";
export {
  type ErrorCategory,
  errorCategory,
  type Invocation,
  type InvocationError,
  type InvocationResult,
} from "./records.ts";
export {
  type EnsembleEntry,
  type EnsembleFailure,
  type EnsemblesConfiguration,
  prepareEnsembles,
  type PreparedEnsembles,
  type PrepareOptions,
} from "./prepare-ensembles.ts";
