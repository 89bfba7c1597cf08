import { fixable } from "../../errors/arsenal-error.ts";
import { hasSecret, readReference } from "../../guard/secrets/reference.ts";
import { inputVariable } from "../../config/clients/client-references.ts";
import { fitsEnvFile } from "../../cli/setup/env-file.ts";
import type { ServerAnswers, ServerInput, Template } from "../entry/inputs.ts";

/** One argument of a command. It is omitted if one of its inputs has no value. */
export interface ArgumentDraft {
  readonly flag?: string;
  /** Omitted for a flag without a value. */
  readonly template?: Template;
  /** True if the flag is passed without a value when its input is true. */
  readonly isSwitch?: boolean;
}

/** A server's entry before the user's values are filled in. */
export interface ServerDraft {
  readonly command?: string;
  readonly args?: readonly ArgumentDraft[];
  readonly env?: Readonly<Record<string, Template>>;
  readonly cwd?: string;
  readonly type?: "sse";
  readonly url?: Template;
  readonly headers?: Readonly<Record<string, Template>>;
}

/** An entry under `mcpServers`, and the secrets for its env file. */
export interface FilledDraft {
  readonly entry: Readonly<Record<string, unknown>>;
  /** By variable name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Fills in the user's values. Secrets become variables of an env file; references to secrets are kept. */
export function fillDraft(
  draft: ServerDraft,
  inputs: readonly ServerInput[],
  answers: ServerAnswers,
  serverName: string,
): FilledDraft {
  const secrets: Record<string, string> = {};
  const prefix = inputVariable(serverName).replaceAll(/^_+|_+$/g, "") || "SERVER";
  const inputOf = (key: string): ServerInput | undefined => inputs.find((each) => each.key === key);

  /** Stores a secret and returns the reference that replaces it. */
  function hide(key: string, value: string, isWhole: boolean): string {
    if (readReference(value) !== undefined) return isWhole ? value : `\${secret:${value}}`;
    if (hasSecret(value) || /^\$\{\w+\}$/.test(value)) return value;
    const own = inputVariable(key).replaceAll(/^_+|_+$/g, "");
    const variable = own.startsWith(`${prefix}_`) ? own : `${prefix}_${own}`;
    keep(variable, value, key);
    return `\${${variable}}`;
  }

  function keep(variable: string, value: string, key: string): void {
    if (!fitsEnvFile(variable, value)) {
      const fix = `Write it to a file and pass --input ${key}=file:/PATH.`;
      throw fixable("INPUT_INVALID", `The value of ${key} cannot be written to an env file.`, fix, { field: key });
    }
    secrets[variable] = value;
  }

  /** Returns the texts of a template: several if its input has several values, undefined if an input has no value. */
  function textsOf(template: Template): readonly string[] | undefined {
    const [only] = template;
    const input = template.length === 1 && typeof only === "object" ? inputOf(only.input) : undefined;
    const value = input === undefined ? undefined : answers[input.key];
    if (input?.multiple === true)
      return value === undefined ? undefined : value.split(",").map((each) => literal(each.trim()));
    const parts = template.map((part) => {
      if (typeof part === "string") return literal(part);
      const given = answers[part.input];
      if (given === undefined) return undefined;
      return inputOf(part.input)?.secret === true ? hide(part.input, given, template.length === 1) : literal(given);
    });
    return parts.includes(undefined) ? undefined : [parts.join("")];
  }

  const args = (draft.args ?? []).flatMap(({ flag, template, isSwitch = false }): readonly string[] => {
    const values = template === undefined ? [] : textsOf(template);
    if (values === undefined) return [];
    if (isSwitch) return values[0] === "true" && flag !== undefined ? [flag] : [];
    if (flag === undefined) return values;
    return values.length === 0 ? [flag] : values.flatMap((value) => [flag, value]);
  });
  const env: Record<string, string> = {};
  for (const [name, template] of Object.entries(draft.env ?? {})) {
    const [only] = template;
    const key = template.length === 1 && typeof only === "object" ? only.input : undefined;
    const value = key === undefined ? undefined : answers[key];
    const isPlainSecret =
      key !== undefined && value !== undefined && inputOf(key)?.secret === true && !hasSecret(value);
    if (isPlainSecret && !/^\$\{\w+\}$/.test(value)) keep(name, value, key);
    else {
      const text = textsOf(template)?.join(",");
      if (text !== undefined) env[name] = text;
    }
  }
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(draft.headers ?? {})) {
    const text = textsOf(template)?.[0];
    if (text !== undefined) headers[name] = text;
  }
  const url = draft.url === undefined ? undefined : textsOf(draft.url)?.[0];
  return {
    entry: {
      ...(draft.command !== undefined && { command: draft.command }),
      ...(args.length > 0 && { args }),
      ...(draft.cwd !== undefined && { cwd: draft.cwd }),
      ...(draft.type !== undefined && { type: draft.type }),
      ...(url !== undefined && { url }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(Object.keys(env).length > 0 && { env }),
    },
    secrets,
  };
}

/** Escapes a text so that the configuration reads it literally. References to the configuration's folder are kept. */
function literal(text: string): string {
  return text.replaceAll(/\$\{(?!workspaceFolder\})/g, "$$${");
}
