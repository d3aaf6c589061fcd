import { setFlagsFromString } from 'node:v8';

import { ConfigError } from '../config/config-error.js';
import { isMongoUrl } from '../config/mongo-url.js';
import { readConfig, type Flags } from '../config/read-config.js';
import type { Config } from '../config/settings.js';
import { composePut } from '../core/write/compose-change.js';
import type { Core } from '../server.js';
import { tellNewStore } from '../cli/new-store.js';
import type { Terminal } from '../cli/terminal.js';
import type { PackageSource } from './package-entries.js';
import type { PackageReader } from './read-package.js';
import { LONG_QUERY_TIME } from '../fhir/limits.js';

/** A store, and what packages are read with. */
export interface OpenPackages {
  readonly config: Config;
  readonly core: Core;
  readonly reader: PackageReader;
}

/** No client waits for a write; in milliseconds. */
const WRITE_TIME = 120_000;

/** Part of the limit on resources above which is looked at what a store makes of one before any is stored. */
const LARGE = 1 / 15;

/**
 * Opens the store of a configuration for a command about packages.
 *
 * @param access `write`: it is made where there is none; `read`: an empty one is taken instead; `trial`: always an empty one
 * @throws ConfigError
 */
export async function openPackages(
  flags: Flags,
  terminal: Terminal,
  access: 'read' | 'write' | 'trial',
): Promise<OpenPackages> {
  // As for `kiln load`: what a batch leaves behind would let the heap grow several times over before V8 looks.
  setFlagsFromString('--heap-growing-percent=30');
  const { config: given } = readConfig(flags, terminal.env);
  const { FHIR_VERSION, openCore, storeExists } = await import('../server.js');
  const isMemory = given.store === 'sqlite::memory:';
  if (access === 'write') {
    if (isMemory) throw new ConfigError('a memory store ends with this command; name a file with --store sqlite:PATH');
    tellNewStore(given, storeExists, terminal);
  }
  const exists = access !== 'trial' && (isMongoUrl(given.store) || (!isMemory && storeExists(given.store)));
  const config = {
    ...given,
    ...(access !== 'write' && !exists && { store: 'sqlite::memory:' }),
    'mongo.operationTime': Math.max(given['mongo.operationTime'], WRITE_TIME),
    'limits.query.time': LONG_QUERY_TIME,
  };
  // A package is stored whole: what cannot take effect is named.
  const isStoredAnyway = () => 'after-others' as const;
  const core = await openCore(config, { isStoredAnyway, existing: access === 'read' && exists });
  const { tables, rules, limits } = core;
  const reader: PackageReader = {
    limits: {
      file: config['limits.package.file'],
      unpacked: config['limits.package.unpacked'],
      entries: config['limits.package.entries'],
      resource: Math.min(config['limits.package.resource'], limits.resource),
    },
    ...{ nesting: limits.nesting, fhirVersion: FHIR_VERSION, tables },
    validate: (resource) => core.validate(resource),
    rules: (resource) => rules.errors(resource),
    async checkStorable(resource, size) {
      if (size > limits.resource * LARGE || Array.isArray(resource['contained']))
        await composePut(resource, String(resource['id']), undefined, core);
    },
  };
  return { config, core, reader };
}

/** An archive that the store keeps while it is added. */
export function blobSource(key: string, label: string, { store }: Pick<Core, 'store'>): PackageSource {
  return {
    label,
    async *open() {
      const blob = await store.blobs.get(key);
      if (blob === undefined) throw new Error('the archive is not in the store any more; add the file again');
      for await (const chunk of blob.stream) yield Buffer.from(chunk);
    },
  };
}
