import { useEffect, useState } from "preact/hooks";

/** Below this width, pages have one column. */
const ONE_COLUMN = "(max-width: 850px)";

/** Returns whether the page currently has one column. */
export function useOneColumn(): boolean {
  const [matches, setMatches] = useState(() => matchMedia(ONE_COLUMN).matches);
  useEffect(() => {
    const query = matchMedia(ONE_COLUMN);
    const follow = (): void => setMatches(query.matches);
    query.addEventListener("change", follow);
    follow();
    return () => query.removeEventListener("change", follow);
  }, []);
  return matches;
}
