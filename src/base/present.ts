type Optional<Of> = { [Key in keyof Of]: undefined extends Of[Key] ? Key : never }[keyof Of];

/** Copies an object without the members that are undefined. */
export function present<const Of extends object>(
  members: Of,
): Omit<Of, Optional<Of>> & { readonly [Key in Optional<Of>]?: Exclude<Of[Key], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as Of;
}
