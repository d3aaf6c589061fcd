import type { XmlParent } from '../../fhir/xml/xml-tree.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { SentPatch } from '../../patch/sent-patch.js';

/** Slashes between two looks at the time. */
const AT_ONCE = 1000;

/** Returns the names that the values of a patch may refer to: all parts of it that read like `Type/id`. */
export async function sentNames(patch: SentPatch): Promise<ReadonlySet<string>> {
  const text = patch.format === 'xml' ? await readTexts(patch.text) : JSON.stringify(patch);
  const names = new Set<string>();
  const pace = yieldToEventLoop();
  let count = 0;
  for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at + 1)) {
    const type = /[A-Za-z]+$/.exec(text.slice(Math.max(0, at - 64), at))?.[0];
    const id = /^[A-Za-z0-9.-]+/.exec(text.slice(at + 1, at + 65))?.[0];
    if (type !== undefined && id !== undefined) names.add(`${type}/${id}`);
    if (++count % AT_ONCE === 0) await pace();
  }
  return names;
}

/** Texts and attributes of an XML document, without what XML has for its characters, each on a line. */
async function readTexts(xml: string): Promise<string> {
  const { readTree } = await import('../../format/xml/read-tree.js');
  const texts: string[] = [];
  const collect = ({ children }: XmlParent): void => {
    texts.push(children.map((child) => (child.kind === 'text' ? child.text : '')).join(''));
    for (const child of children) {
      if (child.kind !== 'element') continue;
      for (const { value } of child.attributes) texts.push(value);
      collect(child);
    }
  };
  collect(readTree(xml));
  return texts.join('\n');
}
