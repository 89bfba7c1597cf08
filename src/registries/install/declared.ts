import { type ServerInput, readTemplate, readValue, type Template } from "../entry/inputs.ts";
import type { DeclaredArgument, DeclaredPackage, DeclaredRemote } from "../read/server-json.ts";
import type { ServerOption } from "./choose.ts";
import type { ArgumentDraft, ServerDraft } from "./draft.ts";

export interface DeclaredCommand {
  readonly args: readonly ArgumentDraft[];
  readonly env: Readonly<Record<string, Template>>;
  readonly inputs: readonly ServerInput[];
}

export function declaredCommand({
  packageArguments = [],
  environmentVariables = [],
}: DeclaredPackage): DeclaredCommand {
  const read = packageArguments.map(readArgument);
  const variables = environmentVariables.map((each) => ({ name: each.name, ...readValue(each.name, each) }));
  return {
    args: read.map(({ argument }) => argument),
    env: Object.fromEntries(variables.map(({ name, template }) => [name, template])),
    inputs: distinct([...read, ...variables].flatMap(({ inputs }) => inputs)),
  };
}

/** Reads one argument: a flag with its value, or a positional value. */
export function readArgument(
  declared: DeclaredArgument,
  index: number,
): { argument: ArgumentDraft; inputs: readonly ServerInput[] } {
  const { name: flag, valueHint, isRepeated = false } = declared;
  if (declared.type === "positional" || flag === undefined) {
    const { template, inputs } = readValue(valueHint ?? `argument_${index + 1}`, declared);
    return { argument: { template }, inputs: inputs.map((each) => repeated(each, isRepeated)) };
  }
  const isPlainFlag =
    declared.value === undefined &&
    declared.default === undefined &&
    declared.format === undefined &&
    !declared.isRequired &&
    declared.description === undefined;
  if (isPlainFlag) return { argument: { flag }, inputs: [] };
  const { template, inputs } = readValue(flag, declared);
  const isSwitch = declared.format === "boolean" && declared.value === undefined;
  return { argument: { flag, template, isSwitch }, inputs: inputs.map((each) => repeated(each, isRepeated)) };
}

function repeated(input: ServerInput, isRepeated: boolean): ServerInput {
  return isRepeated ? { ...input, multiple: true } : input;
}

export function declaredRemote({ type, url = "", headers = [], variables = {} }: DeclaredRemote): {
  readonly draft: ServerDraft;
  readonly inputs: readonly ServerInput[];
} {
  const address = readTemplate(url, variables);
  const read = headers.map((each) => ({ name: each.name, ...readValue(each.name, each) }));
  return {
    draft: {
      ...(type === "sse" && { type }),
      url: address.template,
      headers: Object.fromEntries(read.map(({ name, template }) => [name, template])),
    },
    inputs: distinct([
      ...address.inputs.map((input) => ({ ...input, required: true })),
      ...read.flatMap(({ inputs }) => inputs),
    ]),
  };
}

function distinct(inputs: readonly ServerInput[]): readonly ServerInput[] {
  return [...new Map(inputs.map((input) => [input.key, input])).values()];
}

/** Returns the inputs that the entry declares for an option. Inputs of a bundle are declared in the bundle. */
export function declaredInputs({ package: declared, remote }: ServerOption): readonly ServerInput[] {
  if (remote !== undefined) return declaredRemote(remote).inputs;
  return declared === undefined ? [] : declaredCommand(declared).inputs;
}
