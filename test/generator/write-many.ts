/** `write-many.ts DIR`: the last step of the generator alone, for a test that cuts it short. */
import { compare, write } from '../../generator/write.js';
import { manyFiles } from './many-files.js';

const dir = process.argv[2]!;
const files = manyFiles();
write(dir, files, compare(dir, files));
