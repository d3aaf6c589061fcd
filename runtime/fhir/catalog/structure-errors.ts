/**
 * The ways in which the structure of a resource can be wrong, a part of the error catalogue. The keys are stable.
 * https://hl7.org/fhir/R5/json.html
 */
export const STRUCTURE_ERRORS = {
  'unknown-resource-type': { status: 400, issue: 'structure', text: 'There is no such resource type' },
  'misplaced-resource': { status: 400, issue: 'structure', text: 'There is a resource where none may be' },
  'unknown-property': { status: 400, issue: 'structure', text: 'A property that its type does not have' },
  'missing-element': { status: 400, issue: 'required', text: 'A required element is missing' },
  'wrong-type': { status: 400, issue: 'structure', text: 'A value of another JSON type than its element has' },
  'null-value': { status: 400, issue: 'structure', text: 'null where it stands for nothing' },
  'not-an-array': { status: 400, issue: 'structure', text: 'An element that repeats is an array, even of one' },
  'too-many': { status: 400, issue: 'structure', text: 'An array where there may be one value only' },
  'empty-array': { status: 400, issue: 'structure', text: 'An array is never empty' },
  'empty-object': { status: 400, issue: 'structure', text: 'An object is never empty' },
  'empty-string': { status: 400, issue: 'value', text: 'A string is never empty' },
  'no-content': { status: 400, issue: 'structure', text: 'An element without a value needs extensions' },
  'misaligned-arrays': { status: 400, issue: 'structure', text: 'Values and their extensions are not aligned' },
  'bad-primitive': { status: 400, issue: 'value', text: 'A value that its primitive type does not allow' },
  'bad-choice': { status: 400, issue: 'structure', text: 'A choice element with two types' },
  'bad-extension': { status: 400, issue: 'structure', text: 'An extension has a value or extensions, not both' },
  'nested-too-deeply': { status: 400, issue: 'structure', text: 'The resource is nested too deeply' },
  'search-parameter-invalid': { status: 422, issue: 'invalid', text: 'The search parameter cannot be put into effect' },
  'search-parameter-conflict': { status: 422, issue: 'duplicate', text: 'There is such a search parameter already' },
  'more-faults': { status: 400, issue: 'structure', text: 'There are more faults than are listed' },
} as const;
