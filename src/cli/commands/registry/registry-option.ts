import type { Option } from "../../command.ts";

/** The option that connects a server once without the configured sandbox. */
export const NO_SANDBOX: Readonly<Record<"no-sandbox", Option>> = {
  "no-sandbox": { description: "Connect without the configured sandbox, if it cannot confine a server" },
};

/** The option that restricts a command to one registry. */
export const REGISTRY: Readonly<Record<"registry", Option>> = {
  registry: { value: "NAME", description: "Ask only this registry", fallback: "all of them, in order" },
};
