/** Formats the difference between two texts: a block of removed lines, then a block of added lines. */
export function lineDiff(before: string, after: string): string {
  const [old, next] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  const lines = (sign: string, all: readonly string[]): string[] =>
    all.slice(start, all.length - end).map((line) => `${sign} ${line}`);
  return [...lines("-", old), ...lines("+", next)].join("\n");
}
