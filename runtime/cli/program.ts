import { Command, CommanderError, Option } from 'commander';

import { ConfigError, LATER_SETTINGS, SERVE_SETTINGS, STORE_SETTING, type Flags } from '../config.js';
import { explain, generate, type GenerateOptions } from './development.js';
import { runLoad } from './load.js';
import { runServe } from './serve.js';
import { EXIT, type Terminal } from './terminal.js';

/**
 * Runs a command line.
 *
 * @param args what follows the name of the program
 * @returns the exit code: 0 done, 1 something failed, 2 called wrongly
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = new Command('kiln')
    .description('Fires the official FHIR R5 definitions into a server, and serves them.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd().replace(/^error: /, 'kiln: ')),
    });
  const run = (action: Promise<number>) => action.then((code) => void (exitCode = code));

  const serve = program.command('serve').description('serve FHIR over HTTP');
  for (const { name, placeholder, help, initial } of SERVE_SETTINGS) {
    serve.option(`--${name} <${placeholder}>`, `${help} (default ${initial}; also ${variableOf(name)})`);
  }
  for (const name of LATER_SETTINGS) serve.addOption(new Option(`--${name} <value>`).hideHelp());
  serve.action((options: object) => run(runServe(flagsOf(options), terminal)));

  program
    .command('load')
    .description('put JSON files, and folders of them, into a store')
    .argument('<path...>', 'files and folders')
    .option('--store <URL>', `${STORE_SETTING.help} (default ${STORE_SETTING.initial}; also ${variableOf('store')})`)
    .action((paths: string[], options: object) => run(runLoad(paths, flagsOf(options), terminal)));

  program
    .command('generate')
    .description('turn the definitions into tables (development checkout only)')
    .option('--check', 'write nothing; fail where generated/ is not up to date')
    .option('--package <NAME@VERSION|FILE>', 'the FHIR package to generate from')
    .option('--out <DIR>', 'where to write instead of generated/')
    .action((options: GenerateOptions) => run(generate(options, terminal)));

  program
    .command('explain')
    .description(
      'print what the generator knows of a type, an element, a search parameter or an operation (development checkout only)',
    )
    .argument('<path>', "Patient.contact, Observation.valueQuantity, 'Patient?name', '$everything'")
    .option('--package <NAME@VERSION|FILE>', 'the FHIR package to look in')
    .action((path: string, options: GenerateOptions) => run(explain(path, options, terminal)));

  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (!(error instanceof ConfigError)) throw error;
    terminal.err(`kiln: ${error.message}`);
    return EXIT.usage;
  }
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

function variableOf(name: string): string {
  return `KILN_${name.toUpperCase()}`;
}
