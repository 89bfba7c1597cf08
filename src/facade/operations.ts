import type { SavedProgramOperations } from "../programs/saved/operations.ts";

/** The work of operators on an arsenal, in the words of the client. */
export interface ArsenalOperations {
  readonly policy: {
    /** Reads `security.policyFile` again, in every process on the same state. Throws `CONFIG_INVALID`, and keeps the old policy, if it is invalid. */
    reload(): void;
  };
  /** Programs that worked, saved as tools. */
  readonly programs: SavedProgramOperations;
}
