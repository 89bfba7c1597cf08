/** The condition of a rule on one call. */
export interface When {
  /** As it is written. */
  readonly text: string;
  readonly usesArguments: boolean;
  readonly usesTime: boolean;
  /** Whether it holds. Never throws: what fails is told, and refuses the call. */
  evaluate(facts: Facts): boolean | Failure;
}

/** A condition that could not be found true or false. */
export interface Failure {
  readonly failed: string;
}

/** What conditions can look at. */
export interface Facts {
  readonly tool: Readonly<Record<string, unknown>>;
  readonly principal: Readonly<Record<string, unknown>>;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  now(): number;
}
