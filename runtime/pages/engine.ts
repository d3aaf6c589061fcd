import { readFileSync } from 'node:fs';

import Handlebars from 'handlebars';

/** HTML that is inserted as it is: made by templates, or by a function that escapes. */
export type Html = InstanceType<typeof Handlebars.SafeString>;

/** Marks text as HTML. Only for text that was made by a template, or escaped. */
export function html(text: string): Html {
  return new Handlebars.SafeString(text);
}

const engine = Handlebars.create();

/**
 * A template of `templates/`, read and compiled when it is first used. It escapes all that is not `Html`.
 *
 * @param name of the file, without `.html.template`
 */
export function template<T extends object>(name: string): (data: T) => string {
  let compiled: ((data: T) => string) | undefined;
  return (data) => {
    compiled ??= compile<T>(name);
    return compiled(data);
  };
}

function compile<T>(name: string): (data: T) => string {
  const text = readFileSync(new URL(`templates/${name}.html.template`, import.meta.url), 'utf8');
  return engine.compile<T>(text, { knownHelpersOnly: true, strict: false });
}
