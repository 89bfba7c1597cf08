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
export type { Ensemble, EnsembleConfiguration, InvokeOptions, Invoker } from "./ensemble.ts";
