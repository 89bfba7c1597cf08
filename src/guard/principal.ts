import type { Capability } from "../tool/tool.ts";

/** Who asks. */
export interface Principal {
  readonly id: string;
  readonly tenant?: string;
  readonly roles: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly scopes: readonly string[];
  /** True for the person at this machine, who runs the arsenal. */
  readonly local: boolean;
}
