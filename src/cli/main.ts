#!/usr/bin/env node
import { nodeProblem } from "../system/node-version.ts";

const problem = nodeProblem(process.versions.node);
if (problem === undefined) void import("./start.ts");
else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
