/** The extension that has the boundary of a Location. */
export const BOUNDARY = 'http://hl7.org/fhir/StructureDefinition/location-boundary-geojson';

/** A boundary as a Location has it. */
export function boundaryOf(geoJson: object): object {
  const data = Buffer.from(JSON.stringify(geoJson)).toString('base64');
  return { url: BOUNDARY, valueAttachment: { contentType: 'application/geo+json', data } };
}
