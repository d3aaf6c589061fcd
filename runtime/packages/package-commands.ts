import type { Command } from 'commander';

import type { CommandKit } from '../cli/auth/auth-commands.js';
import type { PackageAddFlags } from './add.js';

const LIMITS = [
  'limits.package.file',
  'limits.package.unpacked',
  'limits.package.entries',
  'limits.package.resource',
  'limits.resource',
  'limits.nesting',
];
const READING = ['store', ...LIMITS];

/** Adds the commands about packages of implementation guides. Each is loaded when it is called. */
export function addPackageCommands(program: Command, { terminal, withSettings, flagsOf, run }: CommandKit): void {
  const group = program
    .command('package')
    .description('add packages of implementation guides (.tgz) to a store, list, compare, check and remove them');
  const every = (value: string, before: readonly string[] = []): string[] => [...before, value];

  withSettings(group.command('add'), [...READING, 'integrity', 'integrity.paths', 'reindex.automatic'])
    .description(
      'store the definitions of packages, and of those that they need: all or nothing, beside servers that run',
    )
    .argument('<file...>', 'archives')
    .option('--from <DIR>', 'folder with archives of what they need (default: the folder of each file)')
    .option('--use <NAME@VERSION>', 'take this version, whatever is asked for; may be repeated', every)
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--examples', 'store the examples too')
    .option('--replace', 'put another content in the place of the same version')
    .option('--downgrade', 'put an older version in the place of a newer one')
    .option('--verbose', 'list the rules that definitions break; they are only counted otherwise')
    .action(async (files: string[], options: PackageAddFlags) => {
      const { from, use, dryRun, examples, replace, downgrade, verbose, ...settings } = options;
      const own = { from, use, dryRun, examples, replace, downgrade, verbose };
      const { runPackageAdd } = await import('./add.js');
      await run(runPackageAdd(files, withoutUndefined(own), flagsOf(settings), terminal));
    });

  withSettings(group.command('list'), ['store'])
    .description('list the packages of a store: version, digest, whether another needs it, what it needs')
    .option('--json', 'print all of it, with the resources of each')
    .action(async ({ json, ...settings }: { json?: true }) => {
      const { runPackageList } = await import('./list.js');
      await run(runPackageList(withoutUndefined({ json }), flagsOf(settings), terminal));
    });

  withSettings(group.command('diff'), READING)
    .description('print what add would change; the exit code is 1 where there is anything')
    .argument('<file>', 'archive')
    .option('--from <DIR>', 'folder with archives of what it needs (default: the folder of the file)')
    .option('--use <NAME@VERSION>', 'take this version, whatever is asked for; may be repeated', every)
    .option('--all', 'print more than 40 lines')
    .action(async (file: string, options: Pick<PackageAddFlags, 'from' | 'use'> & { all?: true }) => {
      const { from, use, all, ...settings } = options;
      const { runPackageDiff } = await import('./diff.js');
      await run(runPackageDiff(file, withoutUndefined({ from, use, all }), flagsOf(settings), terminal));
    });

  withSettings(group.command('test'), LIMITS)
    .description(
      'validate the examples of a package, in memory: those that its guide lists have to pass, others to be refused; the exit ' +
        'code is 1 where one does not',
    )
    .argument('<file>', 'archive')
    .option('--from <DIR>', 'folder with archives of what it needs (default: the folder of the file)')
    .option('--use <NAME@VERSION>', 'take this version, whatever is asked for; may be repeated', every)
    .action(async (file: string, { from, use, ...settings }: Pick<PackageAddFlags, 'from' | 'use'>) => {
      const { runPackageTest } = await import('./test-examples.js');
      await run(runPackageTest(file, withoutUndefined({ from, use }), flagsOf(settings), terminal));
    });

  withSettings(group.command('check'), ['store'])
    .description(
      'name the resources of packages that were changed, deleted or lost, and indexes that are not current; the exit code is ' +
        '1 where there are some',
    )
    .action(async (settings: object) => {
      const { runPackageCheck } = await import('./check.js');
      await run(runPackageCheck(flagsOf(settings), terminal));
    });

  withSettings(group.command('remove'), ['store'])
    .description('delete what a package brought, unless another package needs it')
    .argument('<name>', 'its name: hl7.fhir.uv.ips')
    .option('--force', 'even where another package needs it')
    .action(async (name: string, { force, ...settings }: { force?: true }) => {
      const { runPackageRemove } = await import('./remove.js');
      await run(runPackageRemove(name, withoutUndefined({ force }), flagsOf(settings), terminal));
    });
}

/** The members of an object that have a value. */
function withoutUndefined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
