import { rm, writeFile } from 'node:fs/promises';

import { CLIENT_ALGORITHMS, type SignatureAlgorithm } from '../../auth/jwks/algorithms.js';
import { generateKey, publicHalf } from '../../auth/keys/jws.js';
import { ConfigError } from '../../config/config-error.js';
import { FILE_CAUSES } from '../../config/config-file.js';
import { EXIT, printable, type Terminal } from '../terminal.js';

/** Options of `kiln client keygen`. */
export interface KeygenFlags {
  /** Path that the names of the files begin with. */
  readonly out: string;
  readonly alg?: string;
}

const PRIVATE_TO_OWNER = 0o600;
const FOR_ALL = 0o644;

/**
 * `kiln client keygen --out lab`: makes a key pair for a client. `lab.jwk` is the private key, for its owner alone;
 * `lab-jwks.json` is what is registered. Files that are there are never overwritten.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runKeygen({ out, alg = 'ES384' }: KeygenFlags, terminal: Terminal): Promise<number> {
  const known = CLIENT_ALGORITHMS.find((each) => each === alg);
  if (known === undefined) throw new ConfigError(`--alg ${JSON.stringify(alg)}: has to be ES384 or RS384`);
  const files = { key: `${out}.jwk`, jwks: `${out}-jwks.json` };
  const why = await writePair(files, known);
  if (why !== undefined) {
    terminal.err(`kiln: ${printable(why)}`);
    return EXIT.failed;
  }
  terminal.out(`${printable(files.key)}: the private key, a secret that stays with the client`);
  terminal.out(`${printable(files.jwks)}: the public key, to be registered:`);
  terminal.out(`  npx kiln client add --id ID --scope 'system/Patient.rs' --jwks ${printable(files.jwks)}`);
  return EXIT.done;
}

/** @returns why it could not be done; then neither file is left behind */
async function writePair(files: { key: string; jwks: string }, alg: SignatureAlgorithm): Promise<string | undefined> {
  const key = await generateKey(alg);
  const whyKey = await writeNew(files.key, key, PRIVATE_TO_OWNER);
  if (whyKey !== undefined) return whyKey;
  const whyJwks = await writeNew(files.jwks, { keys: [publicHalf(key)] }, FOR_ALL);
  if (whyJwks !== undefined) await rm(files.key);
  return whyJwks;
}

/** @returns why it could not be done */
async function writeNew(file: string, content: object, mode: number): Promise<string | undefined> {
  try {
    await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`, { flag: 'wx', mode });
    return undefined;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return `${file} is there already, and is not overwritten; choose another name with --out`;
    return `${file}: ${code === 'ENOENT' ? 'there is no such folder' : (FILE_CAUSES[code] ?? message)}`;
  }
}
