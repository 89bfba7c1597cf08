/** Compares versions as semantic versioning does. Other texts come last, in alphabetical order. Positive if the first version is newer. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [one, other].map(parse);
  if (first === undefined || second === undefined)
    return first === second ? (one < other ? -1 : Number(one > other)) : first === undefined ? -1 : 1;
  for (const [index, part] of first.numbers.entries()) {
    const difference = part - (second.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(first.prerelease, second.prerelease);
}

function parse(version: string) {
  const [, core, prerelease = ""] =
    /^v?(\d+(?:\.\d+){0,3})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(version) ?? [];
  if (core === undefined) return undefined;
  const numbers = core.split(".").map(Number);
  while (numbers.length < 4) numbers.push(0);
  return { numbers, prerelease };
}

/** A version without a prerelease is newer than a prerelease of the same version. Numbers are compared as numbers. */
function comparePrereleases(one: string, other: string): number {
  if (one === other) return 0;
  if (one === "" || other === "") return one === "" ? 1 : -1;
  const [first, second] = [one.split("."), other.split(".")];
  for (let index = 0; index < Math.max(first.length, second.length); index++) {
    const [a, b] = [first[index], second[index]];
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    if (a === b) continue;
    const numeric = [a, b].map((part) => /^\d+$/.test(part));
    if (numeric[0] && numeric[1]) return Number(a) - Number(b);
    if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return 0;
}
