import React, {
  useState } from 'react';
import type { X } from './x';
import fs = require('fs');
export * from './y';
export { z };
@Component({ a: () => 1 })
export class A<T> extends B {
  x = 1;
  handler = (e: Event) => {
    const inner = () => 2;
  };
  constructor(private a: number) { super(); this.later = function () {}; }
  get v() { return 1 }
  set v(x) {}
  static async *[Symbol.iterator]() {}
  m(a: string): void;
  m(a: any) { function deep() {} }
  @dec()
  #priv() {}
}
export interface I { call(): void; prop: string }
enum E { A }
declare module "mod" { export function ext(): void }
namespace NS.Inner { export function nf() {} export const k = () => 1 }
export const C = ({ a }: P) => {
  return <div onClick={() => { function click() {} }}>don't</div>;
};
const a = 1, b = function named() {}, c = async () => {};
export default function () {}
export function over(a: string): void;
export function over(a: any) {}
const lazy = React.lazy(() => import('./lazy'));
const obj = { f() {}, 'g-h': () => {}, get i() { return 1 }, n: { o: function () {} } };
