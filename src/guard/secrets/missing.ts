/** Why there is no secret where a reference leads, and what to do about it. Holds no part of a secret. */
export class Missing extends Error {
  readonly fix: string;

  constructor(reason: string, fix: string) {
    super(reason);
    this.fix = fix;
  }
}
