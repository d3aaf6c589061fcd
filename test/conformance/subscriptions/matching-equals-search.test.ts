import { matchingEqualsSearch } from './matching-equals-search.js';

matchingEqualsSearch(() => 'sqlite::memory:', 60);
