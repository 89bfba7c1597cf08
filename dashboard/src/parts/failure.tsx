export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Shows why something could not be done. */
export function Failure({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" class="bad">
      {messageOf(error)}
    </p>
  );
}
