import { makeModel } from '../../generator/generate.js';
import type { Model } from '../../generator/model/model.js';

let made: Promise<Model> | undefined;

/** The model of our definitions, made once for all test files of a process: nobody changes it. */
export function ourModel(): Promise<Model> {
  return (made ??= makeModel());
}
