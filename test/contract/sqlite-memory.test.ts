import { behaviour } from './behaviour.js';

behaviour({ name: 'sqlite::memory:', url: () => 'sqlite::memory:', isShared: false });
