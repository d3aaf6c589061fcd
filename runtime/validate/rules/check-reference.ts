import { isJson, type Json } from '../../path/evaluate/item.js';
import { readReference } from '../../path/reference-text.js';
import type { Child } from './rule-plan.js';
import { targetOf } from './resolve.js';
import type { RuleRun } from './rule-run.js';

/** Targets that stand for any type. */
const ANY: ReadonlySet<string> = new Set(['Resource', 'DomainResource', 'CanonicalResource', 'MetadataResource']);

/**
 * Checks that a reference may lead where it leads, by its text, its `type`, or what it refers to within the resource or
 * Bundle; the run is at it. https://hl7.org/fhir/R5/references.html#Reference
 */
export function checkReference({ type, targets }: Child, value: Json, run: RuleRun): void {
  const reference = type === 'CodeableReference' ? value['reference'] : value;
  if (!isJson(reference)) return;
  const { reference: text, type: said } = reference;
  if (typeof text === 'string') checkUrn(text, run);
  if (typeof text === 'string' && run.tools.isThorough) checkForm(text, run);
  const found = typeof text === 'string' ? targetOf(text, run)?.type : undefined;
  const named = typeof said === 'string' ? said.replace('http://hl7.org/fhir/StructureDefinition/', '') : undefined;
  if (found !== undefined && named !== undefined && run.tools.resourceTypes.has(named) && found !== named) {
    run.report('reference-invalid', 'reference', `its type is ${named}, and it refers to a ${found}`);
    return;
  }
  const leads = found ?? named;
  if (leads === undefined || targets === undefined || targets.length === 0) return;
  if (targets.includes(leads) || targets.some((each) => ANY.has(each)) || !run.tools.resourceTypes.has(leads)) return;
  run.report('reference-invalid', 'reference', `it may refer to ${list(targets)}, not to a ${leads}`);
}

/**
 * Warns of a relative reference that is none: `hello`, `Foo/1`. Official examples have some, and what the index cannot read it leaves
 * out. One by criteria (`Patient?identifier=…`) is for transactions to replace. https://hl7.org/fhir/R5/references.html#literal
 */
function checkForm(text: string, run: RuleRun): void {
  if (/^#|^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return;
  const [type = '', criteria] = text.split(/\?(.*)/s);
  if (criteria !== undefined && run.tools.resourceTypes.has(type) && areCriteria(criteria)) return;
  const named = readReference(text.replace(/#.*/, ''));
  if (named !== undefined && run.tools.resourceTypes.has(named.type)) return;
  const shown = JSON.stringify(text.slice(0, 64));
  const why = named === undefined ? 'it is Type/id, #id or an absolute URL' : `there is no resource type ${named.type}`;
  run.report('reference-invalid', 'reference', `${shown} leads nowhere: ${why}`, 'warning');
}

function areCriteria(text: string): boolean {
  const names = [...new URLSearchParams(text).keys()];
  return names.length > 0 && names.every((name) => /^[A-Za-z_][\w:.-]*$/.test(name));
}

/** A URN may have a query and a fragment (RFC 8141 §2.3): `urn:uuid:…#page=2`. */
const OID = /^urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+(?:[?#].*)?$/;
const UUID = /^urn:uuid:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:[?#].*)?$/;

/** Whether a URN is a UUID or an OID in name only: `urn:uuid:patient`. */
export function isMalformedUrn(url: string): boolean {
  return (url.startsWith('urn:oid:') && !OID.test(url)) || (url.startsWith('urn:uuid:') && !UUID.test(url));
}

/** Types whose values are URLs. */
const URLS: ReadonlySet<string> = new Set(['uri', 'url', 'canonical', 'oid', 'uuid']);

/** Checks a URL by what its scheme allows, and that one within the resource leads somewhere; the run is at it. */
export function checkLink(url: string, type: string, run: RuleRun): void {
  if (!URLS.has(type)) return;
  if (type === 'canonical' && url.length > 1 && url.startsWith('#') && !run.containedById.has(url.slice(1))) {
    run.report('reference-invalid', 'reference', `the resource contains no ${JSON.stringify(url.slice(0, 64))}`);
  } else if (type === 'canonical' && run.tools.isThorough && url.endsWith('|')) {
    run.report(
      'url-invalid-in-content',
      'canonical',
      `${JSON.stringify(url.slice(0, 64))} ends with "|", and no version follows`,
    );
  } else checkUrn(url, run);
}

function checkUrn(url: string, run: RuleRun): void {
  if (!isMalformedUrn(url)) return;
  const why = url.startsWith('urn:oid:') ? 'no OID: urn:oid:1.2.3' : 'no UUID: urn:uuid: and 32 digits';
  run.report('url-invalid-in-content', 'url', `${JSON.stringify(url.slice(0, 64))} is ${why}`);
}

function list(targets: readonly string[]): string {
  const shown = targets.length > 8 ? [...targets.slice(0, 8), '…'] : targets;
  return shown.join(', ');
}
