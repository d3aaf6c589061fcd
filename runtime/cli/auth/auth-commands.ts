import type { Command } from 'commander';

import type { Flags } from '../../config/read-config.js';
import type { AddFlags, KeyFlags } from './client.js';
import type { KeygenFlags } from './keygen.js';
import type { Terminal } from '../terminal.js';
import type { TokenFlags } from './token.js';

/** Helpers that commands are made with. */
export interface CommandKit {
  readonly terminal: Terminal;
  /** Gives a command the options of some settings; absent: of all. */
  withSettings(command: Command, keys?: Iterable<string>, shown?: ReadonlySet<string>): Command;
  flagsOf(options: object): Flags;
  run(action: Promise<number>): Promise<void>;
}

const STORE = ['store'];
/** What tells where a server is; `kiln token` takes the other options of serve as well. */
const ADDRESS: ReadonlySet<string> = new Set(['store', 'host', 'port', 'base-url', 'tls-cert', 'auth']);
const REGISTRATION = ['store', 'auth.jwks.allow', 'auth.algorithms'];

/** Adds the commands about clients, keys and tokens. Each is loaded when it is called. */
export function addAuthCommands(program: Command, kit: CommandKit): void {
  addClientCommands(program, kit);
  addKeyCommands(program, kit);
  const { terminal, withSettings, flagsOf, run } = kit;
  withSettings(program.command('token'), undefined, ADDRESS)
    .description(
      'print a bearer token of the server that serve starts with the same options, for the development client of this ' +
        'machine or for another one',
    )
    .option('--client <ID>', 'the client that asks')
    .option('--key <FILE>', 'its private key, a JWK with a kid')
    .option(
      '--scope <SCOPE>',
      'what to ask for (default system/*.cruds: what of it the client is registered with; __admin is not part of it)',
    )
    .option('--url <URL>', 'FHIR base of a server that is mounted in another application: it names its token endpoint')
    .option('--wait <TIME>', 'how long the server may take to start, such as 10s (default: it has to be there)')
    .action(async (options: TokenFlags) => {
      const { runToken } = await import('./token.js');
      await run(runToken(options, flagsOf(options), terminal));
    });
}

function addClientCommands(program: Command, { terminal, withSettings, flagsOf, run }: CommandKit): void {
  const group = program
    .command('client')
    .description('register clients, list them, switch them off and on, remove them');
  const load = () => import('./client.js');

  group
    .command('keygen')
    .description('make a key pair for a client: NAME.jwk is private, NAME-jwks.json is what is registered')
    .requiredOption('--out <NAME>', 'path that the names of both files begin with')
    .option('--alg <ALG>', 'what it signs with: ES384 or RS384', 'ES384')
    .action(async (options: KeygenFlags) => {
      const { runKeygen } = await import('./keygen.js');
      await run(runKeygen(options, terminal));
    });

  withKeys(withSettings(group.command('add'), REGISTRATION))
    .description('register a client')
    .requiredOption('--id <ID>', 'its id: iss and sub of its assertions')
    .requiredOption('--scope <SCOPE>', "what it may be granted: 'system/Patient.rs system/Binary.r'")
    .option('--dialect <DIALECT>', 'how it writes scopes: v2, v1 or eu-0.1; they differ in what .read means')
    .option('--name <TEXT>', 'for people')
    .option('--lifetime <SECONDS>', 'life of its tokens, at most 300')
    .option('--replace', 'register it anew where it is there already')
    .action(async (options: AddFlags) => run((await load()).addClient(options, flagsOf(options), terminal)));

  withSettings(group.command('list'), STORE)
    .description('list the clients')
    .option('--json', 'as JSON')
    .action(async (options: { readonly json?: boolean }) =>
      run((await load()).listClients(options.json === true, flagsOf(options), terminal)),
    );

  for (const [name, isEnabled, text] of [
    ['disable', false, 'let a client in no more: within 2 s its tokens are good for nothing, in all processes'],
    ['enable', true, 'let a client in again'],
  ] as const) {
    withSettings(group.command(name), STORE)
      .description(text)
      .requiredOption('--id <ID>', 'the client')
      .action(async (options: { readonly id: string }) =>
        run((await load()).switchClient(options.id, isEnabled, flagsOf(options), terminal)),
      );
  }

  withSettings(group.command('remove'), STORE)
    .description('remove a client: within 2 s its tokens are good for nothing, in all processes')
    .requiredOption('--id <ID>', 'the client')
    .action(async (options: { readonly id: string }) =>
      run((await load()).removeClient(options.id, flagsOf(options), terminal)),
    );

  withKeys(withSettings(group.command('rotate'), REGISTRATION))
    .description('give a client other keys in place of all present ones')
    .requiredOption('--id <ID>', 'the client')
    .action(async (options: KeyFlags & { readonly id: string }) =>
      run((await load()).rotateClient(options.id, options, flagsOf(options), terminal)),
    );
}

function withKeys(command: Command): Command {
  return command
    .option('--jwks <FILE>', 'its public keys: a JWK Set, or PEM (public keys or certificates)')
    .option('--kid <KID>', 'name of a key in PEM, as in the header of assertions (default: its thumbprint, RFC 7638)')
    .option('--jwks-url <URL>', 'where it publishes them: preferred, because it can change them there');
}

function addKeyCommands(program: Command, { terminal, withSettings, flagsOf, run }: CommandKit): void {
  withSettings(program.command('keys').description('keys that tokens are signed with').command('rotate'), STORE)
    .description('make the next key: published at once, it signs an hour later')
    .option('--compromised', 'it signs at once, and the others are dropped with all tokens that they signed')
    .action(async (options: { readonly compromised?: boolean }) => {
      const { rotateKeys } = await import('./keys.js');
      await run(rotateKeys(options.compromised === true, flagsOf(options), terminal));
    });
}
