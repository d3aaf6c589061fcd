import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

import { untar } from '../../runtime/cli/load/untar.js';

/** Resources by type, of those whose ids begin with `good-` and with `bad-`. */
export interface Examples {
  readonly good: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly bad: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The examples of a version of `example.guide`. */
export async function readExamples(file: string): Promise<Examples> {
  const found = {
    good: {} as Record<string, Record<string, unknown>>,
    bad: {} as Record<string, Record<string, unknown>>,
  };
  const isExample = (name: string): boolean => /^package\/example\/[^.].*\.json$/.test(name);
  for await (const { content } of untar(createReadStream(file).pipe(createGunzip()), isExample, 2 ** 24)) {
    const resource = JSON.parse(content!.toString('utf8')) as Record<string, unknown>;
    const kind = String(resource['id']).startsWith('good-') ? 'good' : 'bad';
    found[kind][String(resource['resourceType'])] = resource;
  }
  return found;
}
