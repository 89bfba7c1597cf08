/**
 * True for the id of a request that the guard decides on as on a tool, such as `files.resources/read`: it runs by its id and is never listed,
 * searched or learned. No tool's name has a slash, so nothing that is registered can pass for one.
 */
export function isUnlisted(toolId: string): boolean {
  return toolId.includes("/");
}
