/** Code system of units. https://ucum.org/ucum */
export const UCUM = 'http://unitsofmeasure.org';
