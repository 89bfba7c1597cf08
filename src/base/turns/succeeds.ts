/** Returns true if the work ends without an error. */
export async function succeeds(work: () => unknown): Promise<boolean> {
  try {
    await work();
    return true;
  } catch {
    return false;
  }
}
