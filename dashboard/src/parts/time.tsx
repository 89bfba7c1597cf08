/** A moment, by the user's clock; the exact time shows on hover. */
export function Time({ at }: { readonly at: number }) {
  const moment = new Date(at);
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString()}>
      {moment.toLocaleString()}
    </time>
  );
}
