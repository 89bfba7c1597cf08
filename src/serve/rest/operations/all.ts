import type { Operation } from "../operation.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { connectionOperations } from "./connections.ts";
import { ensembleOperations } from "./ensembles.ts";
import { eventOperations } from "./events.ts";
import { executeOperations } from "./execute.ts";
import { gatewayOperations } from "./gateway.ts";
import { keyOperations, usageOperations } from "./keys.ts";
import { observeOperations } from "./observe.ts";
import { pinOperations } from "./pins.ts";
import { policyOperations } from "./policy.ts";
import { programOperations } from "./programs.ts";
import { registryOperations } from "./registries.ts";
import { savedProgramOperations } from "./saved-programs.ts";
import { searchOperations } from "./search.ts";
import { tenantOperations } from "./tenants.ts";
import { toolOperations } from "./tools.ts";
import { workflowOperations } from "./workflows.ts";

/** Every operation, in the order of the document. */
export const OPERATIONS: readonly Operation[] = [
  ...searchOperations,
  ...executeOperations,
  ...programOperations,
  ...savedProgramOperations,
  ...toolOperations,
  ...gatewayOperations(() => OPERATIONS),
  ...approvalOperations,
  ...pinOperations,
  ...ensembleOperations,
  ...workflowOperations,
  ...connectionOperations,
  ...registryOperations,
  ...policyOperations,
  ...auditOperations,
  ...eventOperations,
  ...observeOperations,
  ...tenantOperations,
  ...keyOperations,
  ...usageOperations,
];
