import { CAPABILITIES, type Capability } from "../tool/tool.ts";

/** Who asks. */
export interface Principal {
  readonly id: string;
  readonly tenant?: string;
  readonly roles: readonly string[];
  readonly capabilities: readonly Capability[];
  /** `*` stands for every scope. */
  readonly scopes: readonly string[];
  /** True for the person at this machine, who runs the arsenal. */
  readonly local: boolean;
}

/** The person at this machine: may do everything, and stands for every call that names no other caller. */
export function localOperator(overrides: Partial<Principal> = {}): Principal {
  return {
    id: "local",
    roles: ["operator", "approver"],
    capabilities: CAPABILITIES,
    scopes: ["*"],
    local: true,
    ...overrides,
  };
}
