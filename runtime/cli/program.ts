import { Command, CommanderError, Option } from 'commander';

import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { PRODUCT } from '../fhir/product.js';
import { ALL_SETTINGS, LATER, optionOf, variableOf } from '../config/settings.js';
import { addAuthCommands } from './auth/auth-commands.js';
import type { CheckFlags } from './check-references.js';
import type { ConformanceFlags } from '../conformance/conformance.js';
import type { CopyFlags } from './copy.js';
import type { GenerateOptions } from './development.js';
import type { HfqlFlags } from './hfql.js';
import type { ExportFlags } from './jobs/export.js';
import type { JobsFlags } from './jobs/jobs.js';
import { ADDRESS_SETTINGS, type LoadFlags } from './load/load-options.js';
import { addPackageCommands } from '../packages/package-commands.js';
import type { ReindexFlags } from './reindex.js';
import type { ViewFlags } from './view.js';
import { EXIT, messageOf, printable, type Terminal } from './terminal.js';

/** Settings that commands other than serve have a use for. */
const STORE_SETTINGS = ['store', 'limits.body', 'limits.resource'];

const STORE_ONLY = ['store'];

/** Settings of `kiln load`. */
const LOAD_SETTINGS = [...STORE_SETTINGS, 'integrity', 'integrity.paths'];

/** Settings of `kiln check references`: where data is, and which references lead to it. */
const CHECK_SETTINGS = ['store', 'base-url', 'definitions.shipped'];

/** Those that searches depend on. */
const EXPLAIN_SETTINGS = ['store', 'limits.query.time', 'search.count', 'search.maxCount'];

/**
 * Runs a command line. Each command is loaded when it is called.
 *
 * @param args what follows the name of the program
 * @returns the exit code: 0 done, 1 something failed, 2 called wrongly
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = new Command('kiln')
    .description('Fires the official FHIR R5 definitions into a server, and serves them.')
    .version(PRODUCT.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      // Help is shown there too, where a command is missing.
      writeErr: (text) => terminal.err(text.startsWith('Usage: ') ? text.trimEnd() : oneLine(text)),
    });
  const run = async (action: Promise<number>): Promise<void> => void (exitCode = await action);

  withSettings(program.command('serve').description('serve FHIR over HTTP')).action(async (options: object) => {
    const { runServe } = await import('./serve/serve.js');
    await run(runServe(flagsOf(options), terminal));
  });

  program.command('worker', { hidden: true }).action(async () => {
    const { runWorker } = await import('./serve/worker.js');
    await run(runWorker(terminal));
  });

  withSettings(program.command('load'), [...LOAD_SETTINGS, ...ADDRESS_SETTINGS], undefined, helpOnLoad)
    .description(
      'put resources into a store or a server. One whose id is there already replaces that, or changes nothing where ' +
        'it says the same; one without id is created anew each time; of two with the same id the later stays',
    )
    .argument(
      '<path...>',
      'files (.json, .xml, .ndjson, each also .gz; packages .tgz), folders, or - for NDJSON on stdin',
    )
    .option(
      '--bundles <MODE>',
      'store Bundles as they are, or apply: execute batches and transactions, take collections apart (default store)',
    )
    .option('--url <URL>', 'FHIR base of a server to load into, instead of a store (also KILN_URL)')
    .option('--token <TOKEN>', 'bearer token for that server (also KILN_TOKEN)')
    .option('--client <ID>', 'instead of a token: a client that asks for one, and for more when it has run out')
    .option('--key <FILE>', 'its private key, a JWK with a kid')
    .option(
      '--running',
      'load into the server that serve starts with the same options, as its development client; where none runs, into the store',
    )
    .option('--bulk', 'upload NDJSON to that server and have it import that with $import')
    .action(async (paths: string[], options: LoadFlags) => {
      const { runLoad } = await import('./load.js');
      await run(runLoad(paths, options, flagsOf(options), terminal));
    });

  withSettings(program.command('backup'), STORE_ONLY)
    .description('copy one instant of a store into a new SQLite file, while servers may use it')
    .argument('<file>', 'the file to make')
    .action(async (file: string, options: object) => {
      const { runBackup } = await import('./backup.js');
      await run(runBackup(file, flagsOf(options), terminal));
    });

  withSettings(program.command('restore'), STORE_ONLY)
    .description('put a backup into a store that is empty, and verify it')
    .argument('<file>', 'what kiln backup made')
    .action(async (file: string, options: object) => {
      const { runRestore } = await import('./backup.js');
      await run(runRestore(file, flagsOf(options), terminal));
    });

  withSettings(program.command('copy'), [])
    .description(
      'copy everything of one store into another, empty one, and compare them; run again, it goes on where it was ' +
        'stopped. Servers on either should not run meanwhile',
    )
    .requiredOption('--from <STORE>', 'the store to read: sqlite:PATH or mongodb://…')
    .requiredOption('--to <STORE>', 'the store to fill')
    .action(async ({ from, to, ...settings }: CopyFlags) => {
      const { runCopy } = await import('./copy.js');
      await run(runCopy({ from, to }, flagsOf(settings), terminal));
    });

  withSettings(program.command('reindex'), STORE_ONLY)
    .description(
      'make the index entries of searches anew, while servers may run; needed where definitions have changed. Stopped, it ' +
        'goes on where it was when it is run again',
    )
    .option('--type <TYPE>', 'only resources of this type')
    .action(async ({ type, ...settings }: ReindexFlags) => {
      const { runReindex } = await import('./reindex.js');
      await run(runReindex(type === undefined ? {} : { type }, flagsOf(settings), terminal));
    });

  withSettings(program.command('check').description('check what is stored').command('references'), CHECK_SETTINGS)
    .description(
      'list the references of current versions that lead to nothing, beside servers that run; nothing is changed. The exit ' +
        'code is 1 where there are some',
    )
    .option('--type <TYPE>', 'only of resources of this type')
    .option('--csv', 'print comma-separated values: resource, element, target')
    .action(async ({ type, csv, ...settings }: CheckFlags & object) => {
      const { runCheckReferences } = await import('./check-references.js');
      const own = { ...(type !== undefined && { type }), ...(csv !== undefined && { csv }) };
      await run(runCheckReferences(own, flagsOf(settings), terminal));
    });

  withSettings(
    program
      .command('doctor')
      .description('say what is wrong with a server, its store and its machine, and what to do; changes nothing'),
  )
    .option('--sharding', 'also explain which requests ask how many shards, and judge the keys of a cluster')
    .action(async ({ sharding, ...options }: { readonly sharding?: true }) => {
      const { runDoctor } = await import('../doctor/doctor.js');
      await run(runDoctor(flagsOf(options), terminal, sharding));
    });

  withSettings(program.command('jobs'), STORE_ONLY)
    .description('list the jobs of a store: exports, reindexing, and others; beside servers that run')
    .option('--watch', 'show their progress until all have ended')
    .option('--cancel <ID>', 'cancel one, and remove what it made')
    .action(async ({ watch, cancel, ...settings }: JobsFlags & object) => {
      const { runJobs } = await import('./jobs/jobs.js');
      const own = { ...(watch !== undefined && { watch }), ...(cancel !== undefined && { cancel }) };
      await run(runJobs(own, flagsOf(settings), terminal));
    });

  const subscriptions = program
    .command('subscriptions')
    .description('the Subscriptions of a store and what was delivered, beside servers that run');
  for (const [action, about] of [
    ['list', 'list all that a client has written'],
    ['retry', 'have one start anew, with a handshake'],
    ['off', 'turn one off: no events are made, and nothing is sent'],
  ] as const) {
    const command = withSettings(subscriptions.command(action), STORE_ONLY).description(about);
    if (action !== 'list') command.argument('<id>', 'of the Subscription');
    command.action(async (...given: unknown[]) => {
      const { runSubscriptions } = await import('./subscriptions.js');
      const id = action === 'list' ? undefined : String(given[0]);
      const settings = given[action === 'list' ? 0 : 1] as Record<string, string>;
      await run(runSubscriptions(action, id, flagsOf(settings), terminal));
    });
  }

  program
    .command('export')
    .description('have a server export its resources, and download the files')
    .argument('<folder>', 'where to: it has to be empty, or is made')
    .option('--url <URL>', 'FHIR base of the server (default http://localhost:8080/fhir; also KILN_URL)')
    .option('--token <TOKEN>', 'bearer token for it (also KILN_TOKEN)')
    .option('--client <ID>', 'instead of a token: a client that asks for one, and for more when it has run out')
    .option('--key <FILE>', 'its private key, a JWK with a kid')
    .option('--of <WHAT>', 'Patient, Patient/[id] or Group/[id]: only what belongs to patients, to one, or to a group')
    .option('--type <TYPES>', 'only these types, separated by commas')
    .option('--since <INSTANT>', 'only what changed after it; deleted.*.ndjson lists what was deleted')
    .option('--type-filter <SEARCHES>', "only what a search of its type finds: 'Observation?status=final,…'")
    .option('--keep', 'leave the files on the server, for 24 hours')
    .action(async (folder: string, options: ExportFlags) => {
      const { runExport } = await import('./jobs/export.js');
      await run(runExport(folder, options, terminal));
    });

  program
    .command('conformance')
    .description(
      'ask a running server for everything that a CapabilityStatement asks of it, with resources that are created and removed. ' +
        'The exit code is 1 where a SHALL does not work',
    )
    .argument('<file-or-url>', 'the CapabilityStatement, as JSON')
    .option('--url <URL>', 'FHIR base of the server (default http://localhost:8080/fhir; also KILN_URL)')
    .option('--token <TOKEN>', 'bearer token for it (also KILN_TOKEN)')
    .option('--client <ID>', 'instead of a token: a client that asks for one, and for more when it has run out')
    .option('--key <FILE>', 'its private key, a JWK with a kid')
    .option('--type <TYPE>', 'only what is asked of this resource type')
    .option(
      '--data <FILE...>',
      'resources, as JSON, to make data from: one of a type, instead of one with just what it has to have',
    )
    .option('--failures', 'print only what fails or could not be asked')
    .action(async (from: string, options: ConformanceFlags) => {
      const { runConformance } = await import('../conformance/conformance.js');
      await run(runConformance(from, options, terminal));
    });

  withSettings(program.command('explain-search'), EXPLAIN_SETTINGS)
    .description('print how a search is understood, how the store does it, and what that costs')
    .argument('<search>', "'Patient?name=x&_sort=-birthdate', or a whole URL")
    .option('--html', 'print a picture of it, as a page that needs nothing else: … --html > plan.html')
    .action(async (search: string, { html, ...settings }: { html?: true }) => {
      const { runExplainSearch } = await import('./explain-search.js');
      await run(runExplainSearch(search, { html: html === true }, flagsOf(settings), terminal));
    });

  withSettings(program.command('hfql'), EXPLAIN_SETTINGS)
    .description('run an HFQL statement on a store or a server, and print a table')
    .argument('<statement>', "'select id, name[0].family from Patient where gender = ''male'' limit 10'")
    .option('--csv <FILE>', 'write the rows to a file, as CSV (-: standard output)')
    .option('--explain', 'print how the statement would be run instead')
    .option('--url <URL>', 'FHIR base of a server to ask, instead of a store (also KILN_URL)')
    .option('--token <TOKEN>', 'bearer token for that server (also KILN_TOKEN)')
    .action(async (statement: string, { csv, explain, url, token, ...settings }: HfqlFlags) => {
      const { runHfql } = await import('./hfql.js');
      const options = {
        ...(csv !== undefined && { csv }),
        ...(explain !== undefined && { explain }),
        ...(url !== undefined && { url }),
        ...(token !== undefined && { token }),
      };
      await run(runHfql(statement, options, flagsOf(settings), terminal));
    });

  withSettings(program.command('explain-hfql'), EXPLAIN_SETTINGS)
    .description(
      'print how an HFQL statement would be run: what the search answers, and what is tested on each resource',
    )
    .argument('<statement>', "'select id from Patient where gender = ''male'''")
    .action(async (statement: string, settings: object) => {
      const { runHfql } = await import('./hfql.js');
      await run(runHfql(statement, { explain: true }, flagsOf(settings), terminal));
    });

  withSettings(program.command('view').description('tables of SQL on FHIR').command('run'), EXPLAIN_SETTINGS)
    .description('run a view or a query of SQL on FHIR on a store or a server, and print its table')
    .argument(
      '<view>',
      'a file with a ViewDefinition, a Library or the Parameters of $sql-run; ViewDefinition/[id], Library/[id], or the canonical URL of one that is stored',
    )
    .option('--csv <FILE>', 'write the table to a file, as CSV (-: standard output)')
    .option('--json <FILE>', 'as a list in JSON')
    .option('--ndjson <FILE>', 'as lines of JSON')
    .option('--parquet <FILE>', 'as Parquet')
    .option('--limit <N>', 'most rows')
    .option('--url <URL>', 'FHIR base of a server to ask, instead of a store (also KILN_URL)')
    .option('--token <TOKEN>', 'bearer token for that server (also KILN_TOKEN)')
    .action(async (view: string, options: ViewFlags) => {
      const { csv, json, ndjson, parquet, limit, url, token, ...settings } = options;
      const { runView } = await import('./view.js');
      await run(runView(view, options, flagsOf(settings), terminal));
    });

  withSettings(
    program
      .command('config')
      .description('print the configuration that serve would have, and where each value is from')
      .option('--changed', 'only settings that are not as by default'),
  ).action(async ({ changed, ...settings }: { readonly changed?: true }) => {
    const { printConfig } = await import('../config/print-config.js');
    const { origins } = readConfig(flagsOf(settings), terminal.env);
    const shown = changed === true ? origins.filter(({ source }) => source !== undefined) : origins;
    for (const line of printConfig(shown)) terminal.out(line);
  });

  const kit = { terminal, withSettings, flagsOf, run };
  addPackageCommands(program, kit);
  addAuthCommands(program, kit);

  program
    .command('generate')
    .description('turn the definitions into tables (development checkout only)')
    .option('--check', 'write nothing; fail where generated/ is not up to date')
    .option('--package <NAME@VERSION|FILE>', 'the FHIR package to generate from')
    .option('--out <DIR>', 'where to write instead of generated/')
    .option(
      '--accept',
      'take the package and its counts as those expected from now on: writes definitions/packages.json',
    )
    .option('--guide <FILE...>', 'archives of guides to generate with; they are pinned in definitions/packages.json')
    .option('--from <DIR>', 'folder with archives of what the guides need (default: the folder of each file)')
    .option('--use <NAME@VERSION...>', 'take this version, whatever is asked for')
    .action(async (options: GenerateOptions) => {
      const { generate } = await import('./development.js');
      await run(generate(options, terminal));
    });

  program
    .command('explain')
    .description(
      'print what the generator knows of a type, an element, a search parameter or an operation (development checkout only)',
    )
    .argument('<path>', "Patient.contact, Observation.valueQuantity, 'Patient?name', '$everything'")
    .option('--package <NAME@VERSION|FILE>', 'the FHIR package to look in')
    .action(async (path: string, options: GenerateOptions) => {
      const { explain } = await import('./development.js');
      await run(explain(path, options, terminal));
    });

  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (!(error instanceof ConfigError)) throw error;
    terminal.err(`kiln: ${messageOf(error)}`);
    return EXIT.usage;
  }
}

/**
 * Gives a command the options of some settings, or of all, and those of later ones, to be refused with a word.
 *
 * @param shown settings that the help names; absent: all of them
 * @param helpOf what the help says of a setting, where it is another thing to this command
 */
function withSettings(
  command: Command,
  keys: Iterable<string> = ALL_SETTINGS.keys(),
  shown?: ReadonlySet<string>,
  helpOf = (_key: string, help: string): string => help,
): Command {
  for (const key of keys) {
    const setting = ALL_SETTINGS.get(key);
    if (setting === undefined) continue;
    const initial = setting.initialText ?? String(setting.initial);
    const help = `${helpOf(key, setting.help)} (default ${initial}; also ${variableOf(key)})`;
    command.addOption(
      new Option(`--${optionOf(key)} <${setting.placeholder}>`, help).hideHelp(shown?.has(key) === false),
    );
  }
  command.option('--config <FILE>', 'JSON file with settings (also KILN_CONFIG)');
  for (const key of LATER) {
    if (!key.endsWith('.')) command.addOption(new Option(`--${optionOf(key)} <value>`).hideHelp());
  }
  return command;
}

/** What tells where a server is: `load` does not listen there. */
function helpOnLoad(key: string, help: string): string {
  const isAddress = (ADDRESS_SETTINGS as readonly string[]).includes(key);
  return isAddress ? `of the server that --running looks for, as serve has it: ${help}` : help;
}

/** Commander turns `--base-url` into `baseUrl`; settings go by their names. */
function flagsOf(options: object): Flags {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]),
  );
}

/** Commander puts a suggestion on a line of its own. */
function oneLine(text: string): string {
  return printable(text.trim().replace(/\s*\n\s*/g, ' ')).replace(/^error: /, 'kiln: ');
}
