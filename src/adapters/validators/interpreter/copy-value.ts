/** A copy of own data that defaults can be written into. */
export function copyValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyValue);
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // Assigning to this key would set the prototype, and hide the member from the check.
    if (key === "__proto__") Object.defineProperty(result, key, { value: member, enumerable: true });
    else result[key] = copyValue(member);
  }
  return result;
}
