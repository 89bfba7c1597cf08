// Every Node version can parse this file: it imports nothing and uses only old syntax.

export const MINIMUM_NODE = "22.19";

/** Returns one sentence on why this version of Node cannot run the program; undefined if it can. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = MINIMUM_NODE.split(".").map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return undefined;
  return `toolarsenal needs Node ${MINIMUM_NODE} or newer, but this is Node ${version}: install a newer one from https://nodejs.org.`;
}
