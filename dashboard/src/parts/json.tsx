export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <pre class="json" tabIndex={0} role="region" aria-label={label}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
