/** Shows a time in the user's time zone. Hovering shows the exact time. */
export function Time({ at }: { readonly at: number }) {
  const moment = new Date(at);
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString()}>
      {moment.toLocaleString()}
    </time>
  );
}
