import type { SavedProgramOperations } from "../programs/saved/operations.ts";

/** Operations of operators on an arsenal, with the names that the client uses. */
export interface ArsenalOperations {
  readonly policy: {
    /**
     * Reads `security.policyFile` again, in every process on the same state. If the file is invalid, throws `CONFIG_INVALID` and keeps the old
     * policy.
     */
    reload(): void;
  };
  /** Manages programs that are saved as tools. */
  readonly programs: SavedProgramOperations;
}
