import { covered, open, type Requirement } from "./requirement.ts";

/** The tool calling architecture: ensembles, the handler's context, providers' shapes, descriptors, error categories. */
export const ensembles: readonly Requirement[] = [
  ...covered({
    "001-processor-read-calls": "Reads the calls out of a provider's response, with their ids.",
    "001-processor-write-results": "Writes results in the shape a provider wants, each with the id of its call.",
    "001-processor-execute": "Runs all calls of a response and returns their results in order.",
    "001-ensemble-mcp": "Makes each MCP server one ensemble with its lifecycle.",
    "001-invoker-arguments": "Hands the handler its checked arguments, with the schema's defaults filled in.",
    "001-invoker-typed": "Infers the type of the handler's argument from the schema.",
    "001-invoker-standard-schema": "Takes schemas of Zod, Valibot and ArkType as well as JSON Schema.",
    "001-invoker-sync": "Runs handlers that return a value as well as those that return a promise.",
    "001-context-auxdata": "Hands the handler the caller's auxiliary data.",
    "001-context-tool": "Hands the handler the tool it runs as.",
    "001-context-state": "Hands the handler state shared by the calls of one ensemble.",
    "001-context-signal": "Hands the handler a signal, trace ids, the attempt and a way to tell progress.",
    "001-ensemble-connect": "Connects a source, lists it and registers its tools as one ensemble.",
    "001-ensemble-disconnect": "Disconnects an ensemble and removes its tools.",
    "001-ensemble-close": "Disconnects every ensemble on close, also when one of them fails to.",
    "001-ensemble-names": "Lets two ensembles have tools of the same name.",
    "001-ensemble-defaults": "Applies an ensemble's timeout and concurrency to its tools.",
    "001-ensemble-access": "Finds a tool of an ensemble by its name.",
    "001-ensemble-watch": "Follows a source whose tools change.",
    "001-ensemble-unavailable": "Reports a source that cannot be reached and leaves nothing of it behind.",
    "001-errors-validation": "Answers arguments that break the schema with ARGUMENTS_INVALID.",
    "001-errors-execution": "Answers a handler's exception with EXECUTION_FAILED.",
    "001-errors-timeout": "Answers a run out of time with TIMEOUT.",
    "001-errors-permission": "Answers a lack of access with PERMISSION_DENIED.",
    "001-errors-network": "Keeps TRANSPORT_FAILED of a handler that cannot reach its server.",
    "001-errors-fail-fast": "Fails fast with an exception where the configuration says onFailure throw.",
    "001-flow-by-name": "Finds the tool a call names by id, qualified name, alias or unique name.",
    "001-processor-prepare": "Writes the tools of several ensembles in a provider's shape.",
    "001-flow-conversation": "Runs a conversation: request, calls, results, answer.",
    "001-flow-deduplicate": "Leaves out repeated results when a conversation nears its limit.",
    "001-roadmap-cache": "Answers a repeated call to a read-only tool from a cache.",
  }),
  ...open("descriptors", {
    "001-configuration-tool": "Reads a tool from a TOML descriptor with its arguments as a schema.",
    "001-configuration-ensemble": "Reads an ensemble from a TOML descriptor with its defaults and its tools.",
    "001-configuration-disabled": "Leaves out ensembles and tools that are not enabled.",
    "001-configuration-relative": "Finds a descriptor's tool files from its own folder.",
    "001-configuration-prepare": "Connects every enabled ensemble of the configuration.",
  }),

  ...open("agent", {
    "001-flow-lifetime": "Connects ensembles for a conversation and disconnects them after it.",
  }),
];
