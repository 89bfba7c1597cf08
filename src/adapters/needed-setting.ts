import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";

export function neededSetting(field: string, type: string, fix: string): ArsenalError {
  return fixable("CONFIG_INVALID", `${field} is needed for ${type}.`, fix, { field });
}
