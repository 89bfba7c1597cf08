import type { ComponentType } from "preact";
import { Approvals } from "./approvals.tsx";
import { Audit } from "./audit.tsx";
import { Calls } from "./calls.tsx";
import { Catalog } from "./catalog.tsx";
import { Keys } from "./keys.tsx";
import { Connections } from "./connections.tsx";
import { Overview } from "./overview.tsx";
import { Pins } from "./pins.tsx";
import { Playground } from "./playground.tsx";
import { Policy } from "./policy.tsx";
import { Programs } from "./programs.tsx";
import { AddServers } from "./registry.tsx";
import { Servers } from "./servers.tsx";
import { Tenants } from "./tenants.tsx";
import { Toolsets } from "./toolsets.tsx";
import { Workflows } from "./workflows.tsx";
import { Usage } from "./usage.tsx";

export interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly page: ComponentType;
  /** The operation of the REST API that supplies the page's data. */
  readonly needs: string;
  /** The role that this operation needs, if any. */
  readonly role?: string;
}

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { name: "", title: "Overview", page: Overview, needs: "getStats", role: "operator" },
  { name: "playground", title: "Playground", page: Playground, needs: "search" },
  { name: "catalog", title: "Catalog", page: Catalog, needs: "listTools" },
  { name: "calls", title: "Calls", page: Calls, needs: "listHistory", role: "operator" },
  { name: "programs", title: "Programs", page: Programs, needs: "listRuns" },
  { name: "approvals", title: "Approvals", page: Approvals, needs: "listApprovals", role: "approver" },
  { name: "pins", title: "Pins", page: Pins, needs: "listPins", role: "operator or approver" },
  { name: "policy", title: "Policy", page: Policy, needs: "listPolicyRules", role: "operator" },
  { name: "servers", title: "Servers", page: Servers, needs: "listEnsembles", role: "operator" },
  { name: "connections", title: "Connections", page: Connections, needs: "listConnections" },
  { name: "add", title: "Add servers", page: AddServers, needs: "searchRegistries", role: "operator" },
  { name: "toolsets", title: "Toolsets", page: Toolsets, needs: "listToolsets" },
  { name: "workflows", title: "Workflows", page: Workflows, needs: "listWorkflows", role: "operator" },
  { name: "tenants", title: "Tenants", page: Tenants, needs: "listTenants", role: "operator" },
  { name: "keys", title: "Keys", page: Keys, needs: "listKeys", role: "operator" },
  { name: "usage", title: "Usage", page: Usage, needs: "getUsage", role: "operator" },
  { name: "audit", title: "Audit", page: Audit, needs: "queryAudit", role: "operator" },
];
