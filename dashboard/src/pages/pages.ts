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
}

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { name: "", title: "Overview", page: Overview },
  { name: "playground", title: "Playground", page: Playground },
  { name: "catalog", title: "Catalog", page: Catalog },
  { name: "calls", title: "Calls", page: Calls },
  { name: "approvals", title: "Approvals", page: Approvals },
  { name: "pins", title: "Pins", page: Pins },
  { name: "policy", title: "Policy", page: Policy },
  { name: "servers", title: "Servers", page: Servers },
  { name: "toolsets", title: "Toolsets", page: Toolsets },
  { name: "audit", title: "Audit", page: Audit },
];
