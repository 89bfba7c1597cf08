import type { DatabaseSync } from "node:sqlite";
import { ArsenalError } from "../../errors/arsenal-error.ts";

type Sqlite = { readonly DatabaseSync: typeof DatabaseSync };

let loaded: Sqlite | undefined;

/** Node's own SQLite, loaded when it is first needed and without the warning some versions of Node print for it. */
export function loadSqlite(): Sqlite {
  loaded ??= withoutWarning(() => process.getBuiltinModule("node:sqlite"));
  if (loaded !== undefined) return loaded;
  const fix = "Use Node 22.19 or later.";
  throw new ArsenalError("LIBRARY_MISSING", `This Node (${process.version}) has no node:sqlite. ${fix}`, { fix });
}

/** Node 22 calls SQLite experimental on standard error, which belongs to the program that uses us. Any other warning passes. */
function withoutWarning<Value>(load: () => Value): Value {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]) => {
    if (typeof warning === "string" && warning.startsWith("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
