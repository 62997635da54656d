// A BOM, type assertions and Windows' line ends are read too.
import def, { a } from "./a";

abstract class Shape<T extends object> {
	abstract area(): number;
	static readonly make = <U>(u: U): U => {
		return u;
	};
	declare field: string;
}

export const asserted = <Handler>function () {};
export const satisfied = (() => 1) satisfies Handler;
export = Shape;

declare global {
	interface Window { open(): void }
}

type Alias = { notRecorded(): void; get neither(): string };
const enum Colour { Red }
export abstract class Named {}
type Lazy = import("./lazy").Lazy | typeof import("./other");
declare const typed: import("./a").T;
class Decorated { @inject(() => require("./c")) field: import("./d").V = 1; }
