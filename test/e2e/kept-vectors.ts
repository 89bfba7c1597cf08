import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** The numbers of the vectors in a cache. One that is computed and kept again gets a new number. */
export function keptVectors(file: string): readonly unknown[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
  try {
    const isNew = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vector'").get() === undefined;
    if (isNew) return [];
    return database
      .prepare("SELECT rowid FROM vector ORDER BY rowid")
      .all()
      .map((row) => row["rowid"]);
  } finally {
    database.close();
  }
}
