import { EXIT, type Terminal } from './terminal.js';

/** Options of `kiln generate`. */
export interface GenerateOptions {
  readonly check?: boolean;
  /** NAME@VERSION, or the path of a tarball. */
  readonly package?: string;
  readonly out?: string;
  /** Take the package and its counts as those that are expected from now on. */
  readonly accept?: boolean;
  /** Archives of guides, a folder of what they need, and versions to take: `NAME@VERSION`. */
  readonly guide?: readonly string[];
  readonly from?: string;
  readonly use?: readonly string[];
}

/** `kiln generate`: the definitions become tables. @returns the exit code */
export function generate(options: GenerateOptions, terminal: Terminal): Promise<number> {
  return withGenerator('generate', terminal, async () => {
    const { runGenerate } = await import('../../generator/cli.js');
    return runGenerate(options);
  });
}

/** `kiln explain PATH`: what the generator's model knows of an element. @returns the exit code */
export function explain(path: string, options: Pick<GenerateOptions, 'package'>, terminal: Terminal) {
  return withGenerator('explain', terminal, async () => {
    const { runExplain } = await import('../../generator/cli.js');
    return runExplain(path, options);
  });
}

/** The generator, or what it is made of, is absent where Kiln is installed rather than developed. */
async function withGenerator(command: string, terminal: Terminal, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    terminal.err(`kiln: ${command} needs a development checkout`);
    return EXIT.usage;
  }
}
