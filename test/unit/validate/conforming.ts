import { profiles } from '../../../generated/profiles.js';
import type { ProfileElementRow, ProfileRow } from '../../../runtime/contract/index.js';
import type { JsonObject, JsonValue, Resource } from '../../../runtime/fhir/resource.js';
import { types } from './made.js';

const SAMPLES: Readonly<Record<string, JsonValue>> = {
  boolean: true,
  date: '2024-01-01',
  dateTime: '2024-01-01',
  instant: '2024-01-01T00:00:00Z',
  decimal: 1,
  integer: 1,
  positiveInt: 1,
  unsignedInt: 1,
  code: 'draft',
  uri: 'http://x.org/a',
  url: 'http://x.org/a',
  canonical: 'http://x.org/a',
};

const absent = { dataAbsentReason: { text: 'sample' } };
const loinc = (code: string): JsonObject => ({ coding: [{ system: 'http://loinc.org', code }] });
const warning = profiles.find(({ url }) => url.endsWith('/executablevalueset'))?.root.children?.[0]?.slices?.[2]
  ?.children?.[2]?.fixed;
const section = (title: string, code: string, display: string): JsonObject => ({
  title,
  code: { coding: [{ system: 'http://loinc.org', code, display }] },
});
const sections = [
  section('Procedures Performed', '29554-3', 'Procedure Narrative'),
  section('Medications Administered', '29549-3', 'Medication administered Narrative'),
];

/** What cannot be read off the row: rules in FHIRPath, slices by what is behind a reference or in another profile. */
const EXTRAS: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(
    ['vitalsigns', 'bodyheight', 'bodytemp', 'bodyweight', 'headcircum', 'heartrate', 'oxygensat', 'resprate'].map(
      (id) => [id, absent],
    ),
  ),
  bp: { component: ['8480-6', '8462-4'].map((code) => ({ code: loinc(code), ...absent })) },
  computablevalueset: { compose: { include: [{ system: 'http://x.org/a' }] } },
  executablevalueset: {
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-warning', valueMarkdown: warning as string }],
    expansion: { timestamp: '2024-01-01', contains: [{ code: 'a', version: '1' }] },
  },
  'example-composition': { section: sections },
};

/** What a lipid profile refers to. */
const LIPIDS = ['cholesterol', 'triglyceride', 'hdlcholesterol'];

/** A resource that has what a profile requires, and no more. */
export function conforming({ url, type, root }: ProfileRow): Resource {
  if (url.endsWith('/lipidprofile')) return lipids(root);
  return { ...(fill(root, type) as JsonObject), ...EXTRAS[url.split('/').pop() ?? ''], resourceType: type };
}

function lipids(root: ProfileElementRow): Resource {
  const contained = LIPIDS.map((id) => ({ ...conforming(profiles.find(({ url }) => url.endsWith(`/${id}`))!), id }));
  const result = LIPIDS.map((id) => ({ reference: `#${id}` }));
  return {
    ...(fill(root, 'DiagnosticReport') as JsonObject),
    ...{ code: root.children?.[0]?.pattern as JsonObject, contained, result },
    resourceType: 'DiagnosticReport',
  };
}

/** A value of an element: the one that is fixed, or the least that its children require. */
function fill(row: ProfileElementRow, type: string): JsonValue {
  const given = (row.fixed ?? row.pattern) as JsonValue | undefined;
  const required = (row.children ?? []).filter((child) => isRequired(child) || isFilled(child, type));
  const holds = required.length > 0;
  if (given !== undefined && !holds) return given;
  if (types.isPrimitive(type)) return SAMPLES[type] ?? 'sample';
  const value: JsonObject = typeof given === 'object' && given !== null ? { ...(given as JsonObject) } : {};
  for (const child of required) add(value, child, type);
  if (Object.keys(value).length === 0) return emptyOf(row, type);
  return value;
}

function emptyOf(row: ProfileElementRow, type: string): JsonValue {
  const [profile] = row.types?.flatMap(({ profiles = [] }) => profiles) ?? [];
  if (type === 'Extension') return { url: profile ?? 'http://x.org/a', valueString: 'sample' };
  if (type === 'Reference') return { display: 'sample' };
  if (types.kindOf(type) === 'resource') return { resourceType: row.types?.[0]?.code ?? 'Basic' };
  return { id: 'sample' };
}

function isRequired({ min = 0, slices = [] }: ProfileElementRow): boolean {
  return min > 0 || slices.some((slice) => (slice.min ?? 0) > 0);
}

/** Of an element that its type requires anyway, whether the profile says what has to be in it. */
function isFilled({ name, fixed, pattern, children = [] }: ProfileElementRow, type: string): boolean {
  const needs = (row: ProfileElementRow): boolean => isRequired(row) || (row.children ?? []).some(needs);
  return (
    (types.element(type, name)?.min ?? 0) > 0 && (fixed !== undefined || pattern !== undefined || children.some(needs))
  );
}

function add(value: JsonObject, row: ProfileElementRow, type: string): void {
  const forms = types.forms(type, row.name);
  const code = row.types?.[0]?.code ?? row.slices?.find(({ min = 0 }) => min > 0)?.types?.[0]?.code;
  const form = forms.find((each) => each.type === code) ?? forms[0]!;
  const sliced = (row.slices ?? []).filter(({ min = 0 }) => min > 0);
  const rows = sliced.map((slice) => ({
    ...{ ...row, ...slice, slices: [] },
    children: [
      ...(slice.children ?? []),
      ...(row.children ?? []).filter(({ name }) => !slice.children?.some((each) => each.name === name)),
    ],
  }));
  const count = Math.max(row.min ?? 0, 1);
  const values = (rows.length > 0 ? rows : Array.from({ length: count }, () => row)).map((each) =>
    fill(each, form.type),
  );
  value[form.key] = types.element(type, row.name)?.max === '*' ? values : values[0]!;
}

/** How one thing that a profile says is broken, and what is found then. */
export interface Breach {
  readonly name: string;
  readonly key: string;
  readonly broken: Resource;
}

/** Breaches of profiles that require nothing on the first level. */
const OWN: Readonly<Record<string, Breach>> = {
  clinicaldocument: { name: 'subject', key: 'reference', broken: { subject: { reference: 'Medication/1' } } as never },
  'example-section-library': { name: 'section[0]', key: 'slicing', broken: { section: [{ title: 'x' }] } as never },
  'example-composition': { name: 'section', key: 'slicing', broken: { section: sections.slice(1) } as never },
  // It adds but must-support and extensions that the package does not define.
  'familymemberhistory-genetic': { name: '', key: 'type', broken: { resourceType: 'Basic' } },
};

/** Ways to break a profile, each in one place on the first level. */
export function breaches({ url, type, root }: ProfileRow, good: Resource): Breach[] {
  const found: Breach[] = [];
  const own = OWN[url.split('/').pop() ?? ''];
  if (own !== undefined) found.push({ ...own, broken: { ...good, ...own.broken } });
  for (const row of root.children ?? []) {
    const keys = types.forms(type, row.name).map(({ key }) => key);
    const { [keys.find((key) => key in good) ?? '']: _gone, ...without } = good;
    const form = types.forms(type, row.name)[0]!;
    const isList = types.element(type, row.name)?.max === '*';
    const said = row.fixed ?? row.pattern;
    if (row.max === 0) {
      const sample = fill({ name: row.name }, form.type);
      found.push({ name: row.name, key: 'cardinality', broken: { ...good, [form.key]: isList ? [sample] : sample } });
    } else if ((row.min ?? 0) > 0) {
      found.push({ name: row.name, key: 'cardinality', broken: without as Resource });
    } else if (row.slices?.some(({ min = 0 }) => min > 0) === true) {
      found.push({ name: row.name, key: 'slicing', broken: without as Resource });
    }
    if (typeof said === 'string') {
      found.push({
        name: row.name,
        key: row.fixed === undefined ? 'pattern' : 'fixed',
        broken: { ...good, [form.key]: 'other' },
      });
    }
  }
  return found;
}
