/**
 * Code that the interpreter evaluates before the job. It is a function that receives the names of the host's functions and three functions of the
 * thread, and returns the function that runs the job. It captures built-in objects before the job can change them. Later changes are harmless,
 * because only text leaves the interpreter.
 */
export const GUEST = `(function (names, send, write) {
  "use strict";
  const { parse, stringify } = JSON;
  const { freeze } = Object;
  const AsyncFunction = (async () => {}).constructor;
  const read = (text) => (text === undefined ? undefined : parse(text));
  const show = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return value.name + ": " + value.message;
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  const writer = (stream) => freeze((...values) => write(stream, values.map(show).join(" ") + "\\n"));
  const [out, err] = [writer("stdout"), writer("stderr")];
  const host = { __proto__: null };
  for (const name of parse(names)) host[name] = freeze(async (argument) => read(await send(name, stringify(argument))));
  const fixed = (value) => ({ value: freeze(value), enumerable: true });
  Object.defineProperties(globalThis, {
    host: fixed(host),
    console: fixed({ log: out, info: out, debug: out, warn: err, error: err }),
  });
  return async (code, input) => {
    try {
      return stringify({ result: await new AsyncFunction("input", code)(parse(input)) });
    } catch (error) {
      return stringify({ error: error === null ? "null, as is thrown where an error itself is out of memory" : show(error) });
    }
  };
})`;
