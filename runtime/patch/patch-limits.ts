/** Operations that a patch may have, where nothing else is configured. */
export const MAX_PATCH_OPERATIONS = 1000;
/** Work that one XML Patch may make: nodes and characters looked at. Some tenths of a second of it. */
export const MAX_PATCH_WORK = 10_000_000;
/**
 * Elements that a resource may have where an XML Patch is to change it, and tags that the patch may have: both are read
 * as XML, which takes some microseconds for each.
 */
export const MAX_XML_ELEMENTS = 50_000;
