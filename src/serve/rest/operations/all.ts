import type { Operation } from "../operation.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { ensembleOperations } from "./ensembles.ts";
import { eventOperations } from "./events.ts";
import { executeOperations } from "./execute.ts";
import { gatewayOperations } from "./gateway.ts";
import { observeOperations } from "./observe.ts";
import { pinOperations } from "./pins.ts";
import { policyOperations } from "./policy.ts";
import { searchOperations } from "./search.ts";
import { toolOperations } from "./tools.ts";

/** Every operation, in the order the document shows them. */
export const OPERATIONS: readonly Operation[] = [
  ...searchOperations,
  ...executeOperations,
  ...toolOperations,
  ...gatewayOperations(() => OPERATIONS),
  ...approvalOperations,
  ...pinOperations,
  ...ensembleOperations,
  ...policyOperations,
  ...auditOperations,
  ...eventOperations,
  ...observeOperations,
];
