import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ConfigError } from '../config/config-error.js';
import { append } from '../fhir/lists.js';
import { messageOf } from '../cli/terminal.js';
import type { AddRequest } from './install.js';
import { isPackageName } from './manifest.js';
import { fileSource } from './package-entries.js';

/** Options that say which packages are meant. */
export interface RequestFlags {
  readonly from?: string;
  readonly use?: readonly string[];
  readonly replace?: true;
  readonly downgrade?: true;
}

/** Reads the request to add packages from the command's files and options. @throws ConfigError */
export async function readRequest(files: readonly string[], options: RequestFlags): Promise<AddRequest> {
  const folders = options.from === undefined ? [...new Set(files.map((file) => dirname(file)))] : [options.from];
  const folder: string[] = [];
  for (const path of folders) {
    const names = await readdir(path).catch((error: unknown) => {
      if (options.from !== undefined) throw new ConfigError(`--from ${path}: ${messageOf(error)}`);
      return [];
    });
    append(
      folder,
      names.filter((name) => /\.(?:tgz|tar\.gz)$/i.test(name)).map((name) => join(path, name)),
    );
  }
  return {
    direct: files.map(fileSource),
    folder: folder
      .filter((path) => !files.includes(path))
      .sort()
      .map(fileSource),
    uses: new Map((options.use ?? []).map(readUse)),
    allowsDowngrade: options.downgrade === true,
    replaces: options.replace === true,
  };
}

function readUse(text: string): readonly [string, string] {
  const [, name = '', version = ''] = /^([^@]+)@([^@]+)$/.exec(text) ?? [];
  if (isPackageName(name) && version !== '') return [name.toLowerCase(), version];
  throw new ConfigError(`--use ${JSON.stringify(text)}: has to be NAME@VERSION, such as hl7.terminology.r5@7.0.1`);
}
