import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";

/** The error for a missing required setting of an adapter. */
export function neededSetting(field: string, type: string, fix: string): ArsenalError {
  return fixable("CONFIG_INVALID", `${field} is needed for ${type}.`, fix, { field });
}
