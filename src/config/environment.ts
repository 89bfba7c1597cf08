import { ArsenalError } from "../errors/arsenal-error.ts";

const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Whether the text has a reference to replace. */
export function hasReference(text: string): boolean {
  return text.includes("${");
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` by the environment's values. `$${NAME}` stands for `${NAME}` itself. A variable that is
 * missing or empty takes the default; without one it is an error, since a half-filled address or key fails later and worse.
 */
export function fillReferences(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  field: string,
): string {
  return text.replaceAll(
    REFERENCE,
    (whole, escaped: string | undefined, name: string, fallback: string | undefined) => {
      if (escaped) return whole.slice(1);
      const value = environment[name];
      if (value !== undefined && value !== "") return value;
      if (fallback !== undefined) return fallback;
      throw new ArsenalError(
        "CONFIG_INVALID",
        `${field}: the environment variable ${name} is not set. Set it, or give a default: \${${name}:-value}`,
        {
          field,
          value: text,
          fix: `Set ${name}, or write \${${name}:-value}.`,
        },
      );
    },
  );
}
