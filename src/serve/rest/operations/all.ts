import type { Operation } from "../operation.ts";
import { ensembleOperations } from "./ensembles.ts";
import { policyOperations } from "./policy.ts";
import { toolOperations } from "./tools.ts";

/** Every operation, in the order the document shows them. */
export const OPERATIONS: readonly Operation[] = [...toolOperations, ...ensembleOperations, ...policyOperations];
