import type { Artefact } from '../emit/artefact.js';
import { printPages } from './pages.js';
import { printTypeScript } from './typescript.js';

/** Prints all files of the emitters: text by path, in code-point order of paths. */
export function printAll(artefacts: readonly Artefact[], origin: string): Map<string, string> {
  const printed = [
    ...printTypeScript(
      artefacts.filter((artefact) => artefact.kind === 'typescript'),
      origin,
    ),
    ...printPages(
      artefacts.filter((artefact) => artefact.kind === 'page'),
      origin,
    ),
    ...artefacts
      .filter((artefact) => artefact.kind === 'json')
      .map((artefact): [string, string] => [artefact.path, `${JSON.stringify(artefact.value, undefined, 2)}\n`]),
  ];
  return new Map(printed.sort(([a], [b]) => (a < b ? -1 : 1)));
}
