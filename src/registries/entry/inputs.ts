import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isSecretName } from "../../guard/secrets/looks-secret.ts";
import { hasSecret } from "../../guard/secrets/reference.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { DeclaredValue } from "../read/server-json.ts";

/** A value that the user gives when a server is added. */
export interface ServerInput {
  /** The name in `--input NAME=VALUE`. */
  readonly key: string;
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly format: "string" | "number" | "boolean" | "filepath";
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly placeholder?: string;
  /** True if the input takes several values, separated by commas. */
  readonly multiple?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The user's values, by the input's name. */
export type ServerAnswers = Readonly<Record<string, string>>;

/** A text that consists of fixed parts and inputs. */
export type Template = readonly (string | { readonly input: string })[];

/** Reads a declared value as a template, and the inputs that the template needs. */
export function readValue(
  key: string,
  value: DeclaredValue & { readonly variables?: Readonly<Record<string, DeclaredValue>> },
): { readonly template: Template; readonly inputs: readonly ServerInput[] } {
  if (value.value === undefined) return { template: [{ input: key }], inputs: [toInput(key, value)] };
  const variables = isPlainObject(value.variables) ? (value.variables as Readonly<Record<string, DeclaredValue>>) : {};
  return readTemplate(value.value, variables, value.isSecret === true);
}

/** Splits a text at its `{names}`. Undeclared names are kept as text. */
export function readTemplate(
  text: string,
  variables: Readonly<Record<string, DeclaredValue>>,
  isSecret = false,
): { readonly template: Template; readonly inputs: readonly ServerInput[] } {
  const inputs: ServerInput[] = [];
  const template: (string | { readonly input: string })[] = [];
  for (const [index, part] of text.split(/\{(\w+)\}/).entries()) {
    const variable = index % 2 === 1 && Object.hasOwn(variables, part) ? variables[part] : undefined;
    if (index % 2 === 0) template.push(part);
    else if (variable === undefined) template.push(`{${part}}`);
    else if (variable.value !== undefined) template.push(variable.value);
    else {
      template.push({ input: part });
      const declared = toInput(part, variable);
      inputs.push({ ...declared, secret: declared.secret || isSecret });
    }
  }
  return { template, inputs };
}

function toInput(key: string, value: DeclaredValue): ServerInput {
  const { description, isRequired = false, isSecret = false, format = "string", choices = [], placeholder } = value;
  return {
    key,
    ...(description !== undefined && { description }),
    required: isRequired,
    secret: isSecret || isSecretName(key),
    format,
    ...(value.default !== undefined && { default: value.default }),
    ...(choices.length > 0 && { choices }),
    ...(placeholder !== undefined && { placeholder }),
  };
}

/** Returns the user's values, completed with defaults. Throws INPUT_INVALID for a missing, unknown or invalid value. Secrets are not shown. */
export function completeAnswers(inputs: readonly ServerInput[], given: ServerAnswers): ServerAnswers {
  const unknown = Object.keys(given).find((key) => !inputs.some((input) => input.key === key));
  if (unknown !== undefined) {
    const names = inputs.map(({ key }) => key).join(", ");
    const fix = names === "" ? "It needs none." : `Its inputs are ${names}.`;
    throw fixable("INPUT_INVALID", `The server has no input ${showValue(unknown)}.`, fix, { field: unknown });
  }
  const missing = inputs.filter(
    ({ key, required, default: fallback }) => required && !given[key] && fallback === undefined,
  );
  if (missing.length > 0) {
    const shown = missing.map(({ key, description }) => (description === undefined ? key : `${key} (${description})`));
    const problem = `The server needs ${shown.join(", ")}.`;
    const fix = `Pass ${missing.map(({ key, secret }) => `--input ${key}=${secret ? "env:VARIABLE" : "VALUE"}`).join(" ")}.`;
    throw fixable("INPUT_INVALID", problem, fix, { field: missing[0]?.key ?? "input" });
  }
  const answers: Record<string, string> = {};
  for (const input of inputs) {
    const value = given[input.key] || input.default;
    if (value === undefined) continue;
    checkAnswer(input, value);
    answers[input.key] = value;
  }
  return answers;
}

export function checkAnswer({ key, format, choices, secret, minimum, maximum }: ServerInput, value: string): void {
  const refuse = (message: string, fix: string): never => {
    const shown = secret ? "" : ` (it is ${showValue(value)})`;
    throw fixable("INPUT_INVALID", `${key} ${message}${shown}.`, fix, { field: key, ...(secret ? {} : { value }) });
  };
  if (/[\0\r\n]/.test(value))
    refuse("may not contain line breaks", "Write it on one line, or in a file as file:/PATH.");
  if (choices !== undefined && !choices.includes(value)) refuse(`must be one of ${choices.join(", ")}`, "Choose one.");
  if (hasSecret(value)) return;
  if (format === "boolean" && !/^(?:true|false)$/.test(value)) refuse("must be true or false", "Write true or false.");
  if (format !== "number") return;
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number)) refuse("must be a number", "Write a number.");
  if (number < (minimum ?? -Infinity) || number > (maximum ?? Infinity))
    refuse(`must be from ${minimum ?? "any number"} to ${maximum ?? "any number"}`, "Choose another number.");
}
