/** One change a schema went through on its way to a provider. */
export interface Loss {
  /** JSON Pointer into the tool's parameters: `/properties/when/format`. */
  readonly path: string;
  readonly keyword: string;
  /**
   * `resolved`: the same values are accepted, said otherwise. `described`: written into the description for the model to read. `widened`: more
   * values are accepted than the original takes; the original still checks them. `dropped`: gone. `refused`: why the tool cannot be strict.
   */
  readonly action: "resolved" | "described" | "widened" | "dropped" | "refused";
  /** What was done, in words. */
  readonly message: string;
}
