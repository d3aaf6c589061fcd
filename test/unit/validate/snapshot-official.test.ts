import { describe, expect, it } from 'vitest';

import type {
  DefinedElement,
  DefinedType,
} from '../../../runtime/validate/profiles/definition/structure-definition.js';
import { makeSnapshot } from '../../../runtime/validate/snapshot/make-snapshot.js';
import { packageDefinition, packageProfiles } from './package-definitions.js';

/** What a validator goes by. Texts, mappings and the order of constraints differ between publishers. */
function essence(element: DefinedElement): Record<string, unknown> {
  const values = Object.entries(element).filter(([key]) => /^(?:fixed|pattern)[A-Z]/.test(key));
  return {
    id: element.id,
    path: element.path,
    sliceName: element.sliceName,
    min: element.min,
    max: element.max,
    type: element.type?.map(({ code, profile, targetProfile }: DefinedType) => ({ code, profile, targetProfile })),
    slicing: element.slicing && { ...element.slicing, description: undefined },
    binding: element.binding && { strength: element.binding.strength, valueSet: element.binding.valueSet },
    constraints: element.constraint?.map(({ key }) => key).sort(),
    contentReference: element.contentReference,
    mustSupport: element.mustSupport,
    isModifier: element.isModifier,
    ...Object.fromEntries(values),
  };
}

/** Where the published snapshot is not what its differential says; each with its reason. */
const PUBLISHED_OTHERWISE: Readonly<Record<string, string>> = {
  bp: 'closes the slicing of component.value[x], of which the differential says nothing',
  catalog: 'has the slice date:IssueDate but not the element date',
  cdshooksguidanceresponse: 'restricts module[x] to uri, though moduleUri is not required',
  cdshooksserviceplandefinition: 'does not require an extension, though it requires a slice of them',
  cholesterol: 'adds the rules of SimpleQuantity to referenceRange.high',
  ebmrecommendation: 'closes the slicing of content.value[x]',
  executablevalueset: 'takes the elements of its extensions from definitions of another package',
  hdlcholesterol: 'adds the rules of SimpleQuantity to referenceRange.low',
  ldlcholesterol: 'adds the rules of SimpleQuantity to referenceRange.high',
  'provenance-relevant-history': 'leaves the binding of agent.type out of the slice Author',
};

const idOf = ({ url }: { readonly url: string }): string => url.split('/').pop() ?? '';
const profiles = packageProfiles().filter(
  (each) => each.snapshot !== undefined && !(idOf(each) in PUBLISHED_OTHERWISE),
);

describe('a snapshot made of the differential has what the published one has', () => {
  it.each(profiles.map((profile) => [idOf(profile), profile] as const))('%s', (_id, profile) => {
    const published = new Map((profile.snapshot?.element ?? []).map((each) => [each.id, essence(each)]));
    const { snapshot: _snapshot, ...differential } = profile;
    const made = new Map(makeSnapshot(differential, packageDefinition).map((each) => [each.id, essence(each)]));
    expect([...made.keys()]).toEqual([...published.keys()]);
    for (const [id, element] of published) expect(made.get(id), id).toEqual(element);
  });
});
