import { BSON, MongoClient, type Document } from 'mongodb';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { answersOf } from './layout.js';

const here = new URL('./', import.meta.url).pathname;
const versions = readdirSync(here).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

describeOnMongod('on MongoDB', () => {
  describe.each(versions)('a database of Kiln %s', (version) => {
    it('is opened, and answers as it did', { timeout: 120_000 }, async () => {
      const url = newDatabase();
      const client = new MongoClient(url);
      try {
        const text = gunzipSync(readFileSync(join(here, version, 'mongo.json.gz'))).toString();
        const dump = BSON.EJSON.parse(text, { relaxed: false }) as Record<string, Document[]>;
        for (const [name, documents] of Object.entries(dump)) {
          if (documents.length > 0) await client.db().collection(name).insertMany(documents);
        }
      } finally {
        await client.close();
      }
      expect(await answersOf(url)).toEqual(JSON.parse(readFileSync(join(here, version, 'answers.json'), 'utf8')));
    });
  });
});
