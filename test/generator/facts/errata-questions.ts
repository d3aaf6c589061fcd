import type { Remade } from '../release.js';

/** What one erratum mends: the same question, answered without it and with it. */
export interface ErratumCase {
  readonly package: string;
  /** Of the erratum: the key, together with `path`. */
  readonly target: string;
  readonly path?: string;
  readonly question: string;
  readonly ask: (made: Remade) => unknown;
  readonly without: unknown;
  readonly mended: unknown;
}

/** A case by the last part of its target. */
export type Row = readonly [
  target: string,
  path: string | undefined,
  question: string,
  ask: ErratumCase['ask'],
  without: unknown,
  mended: unknown,
];

/** Which definitions claim a code of a type. */
export const urls = (type: string, code: string) => (made: Remade) =>
  made.parameters(type, code).map(({ url }) => url.slice(url.lastIndexOf('/') + 1));
/** Where the values of a parameter are. */
export const paths = (type: string, code: string) => (made: Remade) =>
  made.parameters(type, code).map((parameter) => parameter.paths.map(({ text }) => text));
/** The steps to a component of a composite. */
export const component = (type: string, code: string, index: number) => (made: Remade) =>
  made.parameters(type, code)[0]?.components?.[index]?.paths[0]?.steps;
/** Which parameter a component of a composite stands for, and its type. */
export const searchedAs = (type: string, code: string, index: number) => (made: Remade) => {
  const row = made.parameters(type, code)[0]?.components?.[index];
  return [row?.code, row?.type];
};
/** Where an operation is called. */
export const levels = (operation: string) => (made: Remade) => made.operation(operation)?.levels;
/** Names of the parameters that an operation takes. */
export const parameterNames = (operation: string) => (made: Remade) =>
  made
    .operation(operation)
    ?.parameters.filter(({ use }) => use === 'in')
    .map(({ name }) => name);
/** Which definitions claim a compartment, and how many types each lets in. */
export const compartments = (type: string) => (made: Remade) =>
  made.compartments(type).map(({ url, members }) => [url.slice(url.lastIndexOf('/') + 1), Object.keys(members).length]);

/** Cases for definitions of one kind. */
export const under = (packageName: string, kind: string, rows: readonly Row[]): ErratumCase[] =>
  rows.map(([target, path, question, ask, without, mended]) => ({
    package: packageName,
    target: `http://hl7.org/fhir/${kind}/${target}`,
    ...(path === undefined ? {} : { path }),
    question,
    ask,
    without,
    mended,
  }));
