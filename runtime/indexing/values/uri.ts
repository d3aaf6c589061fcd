import type { Converters } from './converter.js';

/** Entries of uri parameters: the text, which is compared as it is. https://hl7.org/fhir/R5/search.html#uri */
export const uriConverters: Converters = {
  uri: ({ param }) => {
    return (value, { out }) => {
      if (typeof value === 'string' && value !== '') out.push({ kind: 'uri', param, value });
    };
  },
};
