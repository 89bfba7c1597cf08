import { expect, it } from "vitest";
import { readEscape } from "./decode-hidden.ts";

it.each([
  ["no attribute", "\u001B[m", "colour"],
  ["a colour", "\u001B[31m", "colour"],
  ["the eighth of the extended colours", "\u001B[38;5;8m", "colour"],
  ["the same on the ground", "\u001B[48;5;8m", "colour"],
  ["the same with colons", "\u001B[38:5:8m", "colour"],
  ["letters and ground of two colours", "\u001B[31;40m", "colour"],
  ["letters in the colour of a ground that is not set", "\u001B[30m", "colour"],
  ["a ground alone", "\u001B[40m", "colour"],
  ["italics and underline", "\u001B[3;4m", "colour"],
  ["concealed letters", "\u001B[8m", "conceal"],
  ["the same among others", "\u001B[0;1;8m", "conceal"],
  ["the same before an extended colour", "\u001B[8;38;5;1m", "conceal"],
  ["the same before an extended ground", "\u001B[8;48;5;1m", "conceal"],
  ["the same in the one-character form", "\u009B8m", "conceal"],
  ["letters in the colour of their ground", "\u001B[37;47m", "conceal"],
  ["the same, the ground first", "\u001B[40;30m", "conceal"],
  ["the same with bright colours", "\u001B[97;107m", "conceal"],
  ["a line that is wiped", "\u001B[2K", "steer"],
  ["a cursor that is hidden", "\u001B[?25l", "steer"],
  ["a terminal that is reset", "\u001Bc", "steer"],
  ["a sequence that was cut off", "\u001B[", "steer"],
] as const)("tells the effect of %s", (_, sequence, effect) => {
  expect(readEscape(sequence)).toEqual({ effect, hidden: "" });
});

it.each([
  ["a title", "\u001B]0;Inbox\u0007", "0;Inbox"],
  ["a link that ends otherwise", "\u001B]8;;https://a.example\u001B\\", "8;;https://a.example"],
  ["a device's string", "\u001BPdata\u001B\\", "data"],
  ["the one-character form", "\u009Ddata\u009C", "data"],
  ["one that does not end", "\u001B_data", "data"],
  ["an empty one", "\u001B]\u0007", ""],
])("reads what %s carries", (_, sequence, hidden) => {
  expect(readEscape(sequence)).toEqual({ effect: "text", hidden });
});
