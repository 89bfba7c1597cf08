/** What happens now, and what needs attention. */
export function Overview() {
  return <h1>Overview</h1>;
}
