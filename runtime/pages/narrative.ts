import { isObject, type JsonObject } from '../fhir/resource.js';
import { assetsVersion } from './assets.js';
import { html, type Html } from './engine.js';
import { escapeAttribute } from './highlight.js';
import type { Paths } from './site.js';

/** Characters from which a narrative gets the larger frame. */
const LONG = 1500;

/**
 * The narrative of a resource in a frame of its own, without any right: no script, no form, no origin, no way out. The policy of the
 * page holds in it as well, so that nothing is loaded but its style sheet. Undefined: the resource has none.
 * https://hl7.org/fhir/R5/narrative.html
 */
export function narrativeOf(resource: JsonObject, { ui }: Pick<Paths, 'ui'>): Html | undefined {
  const { text } = resource;
  const div = isObject(text) ? text['div'] : undefined;
  if (typeof div !== 'string' || div === '') return undefined;
  const style = `<link rel="stylesheet" href="${escapeAttribute(ui)}/assets/narrative.css?v=${assetsVersion()}">`;
  const page = `<!doctype html><html lang="en"><head><title>Narrative</title>${style}</head><body>${div}</body></html>`;
  const size = div.length > LONG ? 'narrative long' : 'narrative';
  return html(`<iframe class="${size}" title="Narrative" sandbox srcdoc="${escapeAttribute(page)}"></iframe>`);
}
