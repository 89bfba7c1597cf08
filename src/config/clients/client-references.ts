import { basename, sep } from "node:path";
import { fillReferences, type RefuseReference } from "../load/environment.ts";

/** A value that VS Code prompts its user for. */
export interface ClientInput {
  readonly id: string;
  readonly description?: string;
  readonly default?: string;
}

/** The sources of values for references in a client's configuration. */
export interface ClientContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The value of `${workspaceFolder}`, and the base of relative paths. */
  readonly folder: string;
  readonly inputs: readonly ClientInput[];
}

const REFERENCE = /\$\$\{|\$\{secret:(?:[^{}]|\{(?:principal|tenant)\})*\}|\$\{([^}]*)\}/g;

/** Replaces the references of MCP clients (`${input:id}`, `${env:NAME}`, `${workspaceFolder}`, …) and our own (`${NAME}`, `${NAME:-default}`). */
export function expandClientText(text: string, context: ClientContext, refuse: RefuseReference): string {
  return text.replaceAll(REFERENCE, (reference: string, inner: string | undefined) => {
    const fill = (given: string): string => fillReferences(given, context.environment, refuse);
    if (inner === undefined) return fill(reference);
    const [kind = "", ...rest] = inner.split(":");
    if (kind === "input") return inputValue(rest.join(":"), context, refuse);
    if (kind === "env") return fill(`\${${rest.join(":")}}`);
    const known = Object.hasOwn(VARIABLES, inner) ? VARIABLES[inner]?.(context) : undefined;
    return known ?? fill(reference);
  });
}

const VARIABLES: Readonly<Record<string, (context: ClientContext) => string | undefined>> = {
  workspaceFolder: ({ folder }) => folder,
  workspaceFolderBasename: ({ folder }) => basename(folder),
  userHome: ({ environment }) => environment["HOME"] ?? environment["USERPROFILE"],
  pathSeparator: () => sep,
  "/": () => sep,
};

/** Returns the environment variable that replaces a VS Code input: `GITHUB_TOKEN` for `github-token`. */
export function inputVariable(id: string): string {
  const name = id
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase();
  return /^[0-9]/.test(name) ? `INPUT_${name}` : name;
}

function inputValue(id: string, { environment, inputs }: ClientContext, refuse: RefuseReference): string {
  const variable = inputVariable(id);
  const input = inputs.find((candidate) => candidate.id === id);
  const value = environment[variable] || input?.default;
  if (value !== undefined) return value;
  const meaning = input?.description === undefined ? "" : ` (${input.description})`;
  const fix = `Set the environment variable ${variable}.`;
  return refuse({ value: `\${input:${id}}`, message: `the input "${id}"${meaning} has no value`, fix });
}
