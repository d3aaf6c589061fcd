import type { Model } from '../model/model.js';
import { kebab, tail } from '../model/names.js';
import type { Artefact } from './artefact.js';
import { Code } from './artefact.js';

/** A file for each profile, and `profiles.ts`, which collects them: a server loads them when the first is asked for. */
export function emitProfiles(model: Model): Artefact[] {
  const stems = uniqueStems(model.profiles.map(({ url }) => url));
  const files = model.profiles.map((row, i): Artefact => ({
    kind: 'typescript',
    path: `tables/profiles/${stems[i] ?? ''}.ts`,
    source: row.url,
    imports: [{ names: ['ProfileRow'], from: 'kiln/contract' }],
    declarations: [
      {
        kind: 'constant',
        name: 'profile',
        doc: `What the profile adds to ${row.type}.`,
        type: 'ProfileRow',
        value: row,
      },
    ],
  }));
  return [
    ...files,
    {
      kind: 'typescript',
      path: 'profiles.ts',
      source: model.package,
      imports: [
        { names: ['ProfileRow'], from: 'kiln/contract' },
        ...stems.map((stem) => ({
          names: [`profile as ${alias(stem)}`],
          from: `./tables/profiles/${stem}.js`,
          values: true as const,
        })),
      ],
      declarations: [
        {
          kind: 'constant',
          name: 'profiles',
          doc: 'All generated profiles.',
          type: 'readonly ProfileRow[]',
          value: stems.map((stem) => new Code(alias(stem))),
        },
      ],
    },
  ];
}

/** Names of files: the last segments of the canonicals, numbered where several are alike. */
function uniqueStems(urls: readonly string[]): string[] {
  const taken = new Set<string>();
  return urls.map((url) => {
    const stem = kebab(tail(url)).replaceAll(/[^a-z0-9]+/g, '-').replace(/-$/, '').replace(/^(?![a-z])/, 'p'); // prettier-ignore
    let name = stem;
    for (let n = 2; taken.has(name); n++) name = `${stem}-${String(n)}`;
    taken.add(name);
    return name;
  });
}

/** An import name: `documentBundle`. */
function alias(stem: string): string {
  return stem.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
