import { showValue } from "../../errors/show-value.ts";
import { hasSecret } from "../../guard/secrets/reference.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { DeclaredValue, NamedValue } from "../read/server-json.ts";
import type { Danger } from "./danger.ts";

/** Matches text that a shell would execute, or that ends a line. No shell is used, and honest servers do not need such text. */
// oxlint-disable-next-line no-control-regex -- control characters are looked for
const SHELL = /[\u0000-\u001f\u007f]|\$\(|`|;|\||&&|>\s*[/~.]|<\(/;

/** Matches variables that change which code a program runs, or where it sends its requests. */
const LOADER =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|LD_.*|DYLD_.*|PATH|PATHEXT|SHELL|COMSPEC|BASH_ENV|ENV|PS4|IFS|PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PERL5LIB|PERL5OPT|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|GIT_SSH.*|GIT_EXEC_PATH|npm_config_.*|NPM_CONFIG_.*|UV_.*|PIP_.*|DOCKER_.*|HTTPS?_PROXY|ALL_PROXY|SSL_CERT_.*)$/i;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** Matches headers that a server's entry may not set, because they change how the request is routed or parsed. */
const OWN_HEADERS =
  /^(?:host|content-length|content-type|connection|transfer-encoding|accept|te|upgrade|mcp-.*|proxy-.*)$/i;

/**
 * Checks a text from the registry. The text becomes part of the configuration, so it must not refer to variables, files or secrets of this machine.
 */
export function checkText(text: string | undefined, field: string): readonly Danger[] {
  if (text === undefined) return [];
  if (text.length > 4_000) return [{ field, reason: `has ${text.length} characters, more than 4000` }];
  if (SHELL.test(text)) return [{ field, reason: `contains a shell command: ${showValue(text)}`, value: text }];
  if (text.includes("${") || hasSecret(text))
    return [
      { field, reason: `refers to variables, files or secrets of this machine: ${showValue(text)}`, value: text },
    ];
  return [];
}

export function checkValue(value: DeclaredValue & { readonly variables?: unknown }, field: string): readonly Danger[] {
  const variables = isPlainObject(value.variables) ? Object.entries(value.variables) : [];
  return [
    ...checkText(value.value, `${field}.value`),
    ...checkText(value.default, `${field}.default`),
    ...(value.choices ?? []).flatMap((choice, index) => checkText(choice, `${field}.choices.${index}`)),
    ...variables.flatMap(([name, variable]) =>
      isPlainObject(variable)
        ? checkValue(variable as DeclaredValue, `${field}.variables.${name}`)
        : [{ field: `${field}.variables.${name}`, reason: "is not an object" }],
    ),
  ];
}

export function checkVariable(value: NamedValue, field: string): readonly Danger[] {
  const { name } = value;
  if (!VARIABLE_NAME.test(name))
    return [{ field: `${field}.name`, reason: `is ${showValue(name)}, which is not the name of a variable` }];
  if (LOADER.test(name))
    return [{ field: `${field}.name`, reason: `is ${name}, which changes the code that programs load`, value: name }];
  return checkValue(value, field);
}

export function checkHeader(value: NamedValue, field: string): readonly Danger[] {
  const { name } = value;
  if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name))
    return [
      { field: `${field}.name`, reason: `is ${showValue(name)}, which a server's entry may not set`, value: name },
    ];
  return checkValue(value, field);
}
