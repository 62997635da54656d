'use strict';
const {
  a, b
} = require('a');
var x = require('x').y, z = require("z")();
if (q) require('q');
exports.foo = function () {};
module.exports.bar = () => {
};
Foo.prototype.baz = function () { return 1 };
Foo.prototype = { qux: function () {}, quux() {} };
Foo.stat = function () {};
module.exports = class Named { m() {} };
module.exports = { one() {}, two: function () {}, three: x => x };
(function iife() { function inside() {} })();
app.get('/', function handler() {});
class Flow { }
function Foo() { this.later = () => {}; var y = (function () {}); }
let w; w = function () {};
export default { data() {}, methods: { go() {} } };
/** @template T @typedef {function(): T} Returning */
/** @typedef {{ a: number } Unclosed */
/** @type {import("./types").T} */
const typed = /** @type {Returning} */ (function () {});
