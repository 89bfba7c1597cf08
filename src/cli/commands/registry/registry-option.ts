import type { Option } from "../../command.ts";

/** The option that connects a server once without the configured sandbox. */
export const NO_SANDBOX: Readonly<Record<"no-sandbox", Option>> = {
  "no-sandbox": { description: "If the configured sandbox cannot confine a server, connect without a sandbox" },
};

/** The option that restricts a command to one registry. */
export const REGISTRY: Readonly<Record<"registry", Option>> = {
  registry: { value: "NAME", description: "Search only this registry", fallback: "all registries, in order" },
};
