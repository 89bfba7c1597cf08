/** A moment, by the reader's clock; the exact one shows on hover. */
export function Time({ at }: { readonly at: number }) {
  const moment = new Date(at);
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString()}>
      {moment.toLocaleString()}
    </time>
  );
}
