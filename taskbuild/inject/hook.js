// Node loads this file into each process and each thread. Sources in which each statement tells its number
// (see coverage_node.go) call process.__relabelExecuted. Numbers are written at once, so that no way to end
// a process loses them.
'use strict';
const fs = require('fs');
const seen = new Set();
const out = fs.openSync(process.env.RELABEL_COVERAGE, 'a');
process.__relabelExecuted = (number) => {
  if (!seen.has(number)) {
    seen.add(number);
    fs.writeSync(out, number + '\n');
  }
};
