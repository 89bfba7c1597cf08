/**
 * Joins the prelude to the host in QuickJS. Each crossing between the interpreter and its thread costs about as much as the program's own work for a
 * call. So the calls of one step leave as one text, and results that arrive together enter as one text.
 *
 * `take` returns the number of calls since the last `take`, then three lines for each call: its number, the tool, and the arguments as JSON without
 * line breaks. `settle` gets a list of `[number, time, isError, value]` as JSON and passes on the first result; `settle` without a text passes on the
 * next one. Only concatenation builds the texts, because a program could replace any function.
 */
export const CHANNEL = `(function (prelude, print) {
  "use strict";
  const { parse, stringify } = JSON;
  const named = { __proto__: null };
  let calls = "";
  let latest = "";
  let made = 0;
  let replies = [];
  let next = 0;
  const { start, settleValue, finished, value, failure, dropped } = prelude((id, tool, args) => {
    // Adding to a long text copies it.
    if (latest.length > 2000) {
      calls += latest;
      latest = "";
    }
    latest += id + "\\n" + (named[tool] ??= stringify(tool)) + "\\n" + args + "\\n";
    made++;
  }, print);
  return Object.freeze({
    start,
    finished,
    value,
    failure,
    dropped,
    take() {
      const taken = made + "\\n" + calls + latest;
      calls = "";
      latest = "";
      made = 0;
      return taken;
    },
    settle(text) {
      if (text !== undefined) {
        replies = parse(text);
        next = 0;
      }
      const reply = replies[next++];
      settleValue(reply[0], reply[1], reply[2], reply[3]);
    },
  });
})`;
