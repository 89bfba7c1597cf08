/** A port of asynchronous methods whose adapter is loaded by the first call. If loading fails, the call rejects and the next one retries. `close` loads nothing. */
export function lazyPort<Port extends object>(name: string, load: () => Promise<Port>): Port {
  let loading: Promise<Port> | undefined;
  let loaded: Port | undefined;
  type Method = (...given: unknown[]) => unknown;
  const call =
    (key: keyof Port) =>
    (...given: unknown[]): unknown => {
      if (loaded !== undefined) return (loaded[key] as Method)(...given);
      if (key === "close" && loading === undefined) return Promise.resolve();
      loading ??= load().then(
        (port) => (loaded = port),
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      );
      return loading.then((port) => (port[key] as Method)(...given));
    };
  return new Proxy({ name } as Port, {
    get: (_, key) => (key === "name" ? name : key === "then" ? undefined : call(key as keyof Port)),
  });
}
