export type { Ensemble, InvokeOptions, Invoker } from "./ensemble.ts";
