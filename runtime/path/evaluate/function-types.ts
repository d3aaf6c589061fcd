import type { Environment } from './environment.js';
import type { Items } from './item.js';

/** A compiled expression. `focus` is what names in it are looked up in, and what `$this` is. */
export type Evaluate = (focus: Items, environment: Environment) => Items;

/** @param outer focus of the expression that has the call: arguments that are no criteria are evaluated there */
export type RunFunction = (input: Items, environment: Environment, outer: Items) => Items;
/** Makes a function with its arguments. */
export type MakeFunction = (args: readonly Evaluate[]) => RunFunction;
