import type { ComponentType } from "preact";
import { Approvals } from "./approvals.tsx";
import { Audit } from "./audit.tsx";
import { Calls } from "./calls.tsx";
import { Catalog } from "./catalog.tsx";
import { Overview } from "./overview.tsx";
import { Pins } from "./pins.tsx";
import { Playground } from "./playground.tsx";
import { Policy } from "./policy.tsx";
import { Servers } from "./servers.tsx";
import { Toolsets } from "./toolsets.tsx";

export interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly page: ComponentType;
  /** The operation of the REST API without which the page is empty. */
  readonly needs: string;
  /** The role that gives it, if not everybody may use it. */
  readonly role?: string;
}

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { name: "", title: "Overview", page: Overview, needs: "getStats", role: "operator" },
  { name: "playground", title: "Playground", page: Playground, needs: "search" },
  { name: "catalog", title: "Catalog", page: Catalog, needs: "listTools" },
  { name: "calls", title: "Calls", page: Calls, needs: "listHistory", role: "operator" },
  { name: "approvals", title: "Approvals", page: Approvals, needs: "listApprovals", role: "approver" },
  { name: "pins", title: "Pins", page: Pins, needs: "listPins", role: "operator or approver" },
  { name: "policy", title: "Policy", page: Policy, needs: "listPolicyRules", role: "operator" },
  { name: "servers", title: "Servers", page: Servers, needs: "listEnsembles", role: "operator" },
  { name: "toolsets", title: "Toolsets", page: Toolsets, needs: "listToolsets" },
  { name: "audit", title: "Audit", page: Audit, needs: "queryAudit", role: "operator" },
];
