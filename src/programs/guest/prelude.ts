/**
 * The code evaluated before a program: a function that gets the host's functions (`send` passes on a call, `print` a line) and returns the functions
 * that start and end the program. Time and random numbers are derived from the run, so that a repeated program takes the same steps. Programs cannot
 * turn text into code. Changes that a program makes to these objects affect only that program, because only JSON text leaves the realm.
 */
export const PRELUDE = `(function (send, print) {
  "use strict";
  const { parse, stringify } = JSON;
  const { freeze, defineProperty, keys, hasOwn, fromEntries, entries, getPrototypeOf } = Object;
  const { isArray } = Array;
  const { construct, get } = Reflect;
  const RealDate = Date;
  const RealError = Error;
  const RealPromise = Promise;
  const globals = globalThis;
  let clock = 0;
  let calls = 0;
  let mostCalls = 0;
  const waiting = [];

  // Text stays data: no function can be made of it.
  const refuseCode = function Function() {
    throw new TypeError("Code cannot be made from text here.");
  };
  refuseCode.prototype = getPrototypeOf(refuseCode);
  for (const each of [function () {}, async () => {}, function* () {}, async function* () {}])
    defineProperty(getPrototypeOf(each), "constructor", { value: refuseCode, writable: false, configurable: false });
  freeze(refuseCode);
  defineProperty(globals, "Function", { value: refuseCode, writable: false, configurable: false });
  for (const name of ["eval", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "navigator", "performance", "queueMicrotask", "gc"])
    delete globals[name];

  // Time stands still between the results of calls, and is in UTC.
  const dateParts = ["Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds"];
  for (const part of dateParts)
    for (const way of ["get", "set"])
      if (RealDate.prototype[way + "UTC" + part]) RealDate.prototype[way + part] = RealDate.prototype[way + "UTC" + part];
  RealDate.prototype.getTimezoneOffset = () => 0;
  RealDate.prototype.toString = RealDate.prototype.toUTCString;
  function ProgramDate(...given) {
    if (new.target === undefined) return new RealDate(clock).toUTCString();
    const at = given.length === 0 ? [clock] : given.length === 1 ? given : [RealDate.UTC(...given)];
    return construct(RealDate, at, new.target);
  }
  ProgramDate.now = () => clock;
  ProgramDate.parse = RealDate.parse;
  ProgramDate.UTC = RealDate.UTC;
  ProgramDate.prototype = RealDate.prototype;
  defineProperty(ProgramDate, "name", { value: "Date" });
  defineProperty(RealDate.prototype, "constructor", { value: ProgramDate, writable: false, configurable: false });
  defineProperty(globals, "Date", { value: ProgramDate, writable: false, configurable: false });

  // sfc32
  const seeds = [0, 0, 0, 1];
  Math.random = () => {
    const [a, b, c, d] = seeds;
    const sum = (a + b + d) | 0;
    seeds[3] = (d + 1) | 0;
    seeds[0] = b ^ (b >>> 9);
    seeds[1] = (c + (c << 3)) | 0;
    seeds[2] = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };

  class ToolError extends RealError {
    constructor(message, code, status, tool, stack) {
      super(message);
      this.name = "ToolError";
      this.code = code;
      this.status = status;
      this.tool = tool;
      // The interpreter then adds the stack of the place where the program awaits the call.
      if (stack === undefined) delete this.stack;
      else defineProperty(this, "stack", { value: stack });
    }
  }

  const addsStack = () => {
    const error = new RealError();
    delete error.stack;
    try {
      throw error;
    } catch {
      return hasOwn(error, "stack");
    }
  };
  // Writing a stack takes a third of the time of a call in QuickJS. There, an error without a stack gets one where it is thrown again.
  const mostStacks = addsStack() ? 20 : Infinity;
  const calledTool = Symbol();
  let resolveNext, rejectNext;
  const keepNext = (resolve, reject) => {
    resolveNext = resolve;
    rejectNext = reject;
  };
  const post = (tool, args) => {
    if (++calls > mostCalls) throw new RealError("This program made more than " + mostCalls + " calls. Fetch more with each call, or stop earlier.");
    const stack = calls > mostStacks ? undefined : new RealError().stack;
    send(calls, tool, args);
    const promise = new RealPromise(keepNext);
    promise[calledTool] = tool;
    waiting[calls] = { __proto__: null, resolve: resolveNext, reject: rejectNext, tool, stack };
    return promise;
  };

  // A promise is never used as the value that it is for: reading a member that no promise has fails, and names the call that has no await.
  let hint;
  const withoutAwait = (promise, member) => {
    const tool = promise[calledTool]?.replace(/^default\\./, "");
    const lacks = member === undefined ? "" : "has no " + stringify(member);
    hint = new RealError(
      tool === undefined
        ? "A promise " + (lacks || "is not a value") + ": an async function was called without await. Write await before the call."
        : tool + " was called without await, so its result " + (lacks || "is missing") + ". Write: await " + tool + "(…)",
    );
    return hint;
  };
  const asValue = new Set(["toJSON", Symbol.iterator, Symbol.toPrimitive]);
  const noMember = new Proxy(Object.create(Object.prototype), {
    get(target, name, promise) {
      if (promise === RealPromise.prototype || name in target) return get(target, name, promise);
      if (asValue.has(name)) throw withoutAwait(promise);
      if (typeof name === "string") throw withoutAwait(promise, name);
    },
  });
  Object.setPrototypeOf(RealPromise.prototype, noMember);

  const bind = (tool) => freeze((given = {}) => post(tool, stringify(given) ?? "null"));

  const show = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof RealError) return value.name + ": " + value.message;
    try {
      return stringify(value, plain) ?? String(value);
    } catch (error) {
      return error === hint ? "(" + error.message + ")" : "(not printable)";
    }
  };
  /** Writes the values that JSON has no form for. */
  const plain = (_key, value) => {
    if (typeof value === "bigint") return value.toString();
    if (value instanceof Map) return fromEntries(value);
    if (value instanceof Set) return [...value];
    if (value instanceof RealError) return { name: value.name, message: value.message, ...value };
    return value;
  };

  const fixed = (target, name, value) => defineProperty(target, name, { value, enumerable: true });
  let dropped = 0;
  const line = freeze((...values) => {
    if (dropped > 0 || print(values.map(show).join(" ")) === false) dropped++;
  });
  fixed(globals, "console", freeze({ log: line, info: line, debug: line, warn: line, error: line, trace: line, dir: line, table: line }));

  const reader = (by) => (typeof by === "function" ? by : (item) => item?.[by]);
  const pick = (from, ...names) => {
    if (from instanceof RealPromise) throw withoutAwait(from);
    const wanted = names.flat();
    const one = (item) => fromEntries(wanted.filter((name) => hasOwn(item ?? {}, name)).map((name) => [name, item[name]]));
    return isArray(from) ? from.map(one) : one(from);
  };
  const group = (list, by) => {
    const groups = {};
    const read = reader(by);
    for (const item of list) {
      const name = String(read(item));
      if (hasOwn(groups, name)) groups[name].push(item);
      else defineProperty(groups, name, { value: [item], enumerable: true, writable: true, configurable: true });
    }
    return groups;
  };
  const count = (list, by = (item) => item) => fromEntries(entries(group(list, by)).map(([name, items]) => [name, items.length]));
  const parallel = async (list, most, run) => {
    if (typeof most === "function") [most, run] = [8, most];
    if (typeof run !== "function") throw new TypeError("parallel needs a list, a number and a function: await parallel(ids, 8, (id) => github.get_issue({ id })).");
    const items = [...list];
    const results = [];
    let next = 0;
    const worker = async () => {
      while (next < items.length) {
        const index = next++;
        results[index] = await run(items[index], index);
      }
    };
    const workers = Math.max(1, Math.min(Number(most) || 1, items.length));
    await RealPromise.all(Array.from({ length: workers }, worker));
    return results;
  };
  const UNITS = { ms: 1, s: 1e3, minutes: 6e4, hours: 36e5, days: 864e5, weeks: 6048e5 };
  const unit = (name) => {
    const ms = UNITS[name] ?? UNITS[name + "s"];
    if (ms === undefined) throw new RealError("There is no unit " + show(name) + ". Use " + keys(UNITS).join(", ") + ".");
    return ms;
  };
  const dates = {
    now: () => new ProgramDate(),
    add: (date, amount, name = "days") => new ProgramDate(new RealDate(date).getTime() + amount * unit(name)),
    diff: (from, to, name = "days") => (new RealDate(to).getTime() - new RealDate(from).getTime()) / unit(name),
    day: (date = clock) => new RealDate(date).toISOString().slice(0, 10),
  };
  const sleep = (ms) => post("sleep", stringify(ms) ?? "0");
  for (const [name, value] of entries({ pick, group, count, parallel, sleep, dates }))
    defineProperty(globals, name, { value: freeze(value), enumerable: true, writable: true, configurable: true });

  /** An object whose members are the tools of a namespace. A name that it does not have is passed on, and comes back as an error with the nearest names. */
  const namespace = (name, tools) => {
    const bound = { __proto__: new Proxy({ __proto__: null }, {
      get: (target, tool) => (typeof tool !== "string" || tool === "then" ? undefined : bind(name + "." + tool)),
      set: () => false,
    }) };
    for (const tool of keys(tools)) fixed(bound, tool, bind(tools[tool]));
    return freeze(bound);
  };

  const lineOf = (stack) => {
    const found = /program\\.ts:(\\d+)/.exec(String(stack));
    return found === null ? undefined : Number(found[1]);
  };

  /** Cuts a value that is too large to return, and says how to get the rest. */
  const cut = (value, text, most) => {
    if (isArray(value)) {
      let size = 2;
      let kept = 0;
      for (; kept < value.length; kept++) {
        size += (stringify(value[kept], plain) ?? "null").length + 1;
        if (size > most) break;
      }
      return [stringify(value.slice(0, kept), plain), "The value is a list of " + value.length + " items (" + text.length + " bytes); the first " + kept + " are shown. Return fewer fields with pick(), or a part of the list with slice(" + kept + ")."];
    }
    if (typeof value === "object" && value !== null) {
      const sizes = entries(value).map(([name, member]) => [name, (stringify(member, plain) ?? "").length]);
      const shown = {};
      let left = most;
      for (const [name, size] of sizes.toSorted((one, other) => one[1] - other[1])) {
        left -= size + name.length + 4;
        if (left > 0) shown[name] = value[name];
      }
      const missing = keys(value).filter((name) => !hasOwn(shown, name));
      return [stringify(shown, plain), "The value is " + text.length + " bytes; " + missing.slice(0, 20).join(", ") + " left out. Return the missing members alone, or less of them."];
    }
    return [stringify(String(value).slice(0, Math.max(0, most - 2))), "The value is a text of " + String(value).length + " characters; its beginning is shown. Return the part that you need with slice()."];
  };

  /** Ends a call with its result, which must be made of objects of this interpreter. */
  const settleValue = (id, now, isError, value) => {
    const call = waiting[id];
    waiting[id] = undefined;
    clock = now;
    if (call === undefined) return;
    if (isError) call.reject(new ToolError(value.message, value.code, value.status, call.tool, call.stack));
    else call.resolve(value);
  };

  return freeze({
    start(text) {
      const { namespaces, input, seed, now, calls: most } = parse(text);
      clock = now;
      mostCalls = most;
      for (let i = 0; i < 4; i++) seeds[i] = seed[i] | 0;
      const all = { __proto__: null };
      for (const { name, tools } of namespaces) {
        if (name === "") for (const tool of keys(tools)) all[tool] = bind(tools[tool]);
        else all[name] = namespace(name, tools);
      }
      // A program may declare variables with these names.
      const own = (name, value) => defineProperty(globals, name, { value, enumerable: true, writable: true, configurable: true });
      if (input !== undefined) own("input", input);
      for (const name of keys(all)) if (!hasOwn(globals, name)) own(name, all[name]);
      if (!hasOwn(globals, "tools")) own("tools", new Proxy(freeze(all), { get: (target, name) => target[name] ?? target[String(name).replace(/[^\\w$]/g, "_")] }));
    },
    /** Ends a call with its result as JSON text. */
    settle: (id, now, isError, text) => settleValue(id, now, isError, text === undefined ? undefined : parse(text)),
    settleValue,
    /** The value of a script, of which its interpreter gives a promise of an object. A promise as the value is awaited. */
    finished: async (script) => (await script).value,
    /** The value of the program as JSON text, cut to a size. */
    value(given, most) {
      const text = stringify(given, plain);
      if (text === undefined) return "{}";
      if (text.length <= most) return '{"value":' + text + "}";
      const [shown, truncated] = cut(typeof given === "object" && given !== null && typeof given.toJSON === "function" ? parse(text) : given, text, most);
      return '{"value":' + shown + ',"truncated":' + stringify(truncated) + "}";
    },
    dropped: () => dropped,
    failure(error) {
      const isError = error instanceof RealError;
      const message = isError ? (error.name === "Error" ? "" : error.name + ": ") + error.message : "The program threw " + show(error) + ".";
      const line = isError ? lineOf(error.stack) : undefined;
      return stringify({ message: String(message).slice(0, 8000), line });
    },
  });
})`;
