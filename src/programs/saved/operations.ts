import type { Principal } from "../../guard/principal.ts";
import type { SavedProgram, SaveProgram } from "./saved-program.ts";

/** The caller of an operation on saved programs. */
export interface ProgramCaller {
  /** Defaults to the local operator. */
  readonly principal?: Principal;
}

/** Manages programs that worked and that a person accepted as tools (`programs.NAME`). */
export interface SavedProgramOperations {
  /**
   * Saves the program of a run that succeeded. An operator's program becomes a tool immediately. Another caller's program is proposed, and becomes a
   * tool when an operator accepts it.
   */
  save(program: SaveProgram, by?: ProgramCaller): Promise<SavedProgram>;
  /** Makes a proposed program a tool. With `digest`, only if the program is still the one that you reviewed. */
  accept(name: string, by?: ProgramCaller & { readonly digest?: string | undefined }): Promise<SavedProgram>;
  /** Returns programs by name. Callers who are not operators get only their own. */
  list(by?: ProgramCaller): Promise<readonly SavedProgram[]>;
  /** Throws TOOL_NOT_FOUND if the program does not exist. */
  get(name: string, by?: ProgramCaller): Promise<SavedProgram>;
  /** Removes a program and its tool. Throws TOOL_NOT_FOUND if the program does not exist. */
  remove(name: string, by?: ProgramCaller): Promise<void>;
}
