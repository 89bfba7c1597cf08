import { isPlainObject } from "../../tool/json-schema.ts";

/** Reads a JSON object that others wrote; undefined if the text is not one. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
