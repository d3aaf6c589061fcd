import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** A doc comment on every top-level export, a `export … from` aside: contract, units, errors, link to the specification. */
const docCommentOnExports = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { missing: 'Say in a doc comment (/** … */) what {{name}} promises: every export has one.' },
  },
  create(context) {
    const source = context.sourceCode;
    const documented = new Set(); // overloads and merged declarations share the first one's comment
    return {
      'Program > ExportNamedDeclaration[declaration]'(node) {
        const { declaration } = node;
        const name = (declaration.id ?? declaration.declarations?.[0]?.id)?.name ?? 'this';
        const last = source.getCommentsBefore(node).at(-1);
        if (last?.type === 'Block' && last.value.startsWith('*')) documented.add(name);
        else if (!documented.has(name)) context.report({ node, messageId: 'missing', data: { name } });
      },
    };
  },
};

/** Riddles of this project's own prose, and the plain English for each. White space may be a line break of a comment. */
const riddles = [
  { words: /\b(?:nobody|whoever|somebody)\b/gi, instead: 'name the actor: client, caller, process, request' },
  { words: /\btold\b/gi, instead: 'say "returned", "reported", "notified" or "distinguished"' },
  { words: /\bwhat[\s*/]+is[\s*/]+not[\s*/]+there\b/gi, instead: 'say "a missing …"' },
  { words: /\bas[\s*/]+if[\s*/]+it[\s*/]+were\b/gi, instead: 'say "like …" or "as …"' },
  { words: /\bis[\s*/]+for[\s*/]+that\b/gi, instead: 'say what does it' },
  {
    words: /\bstands?\b(?![\s*/]+for\b|-in\b|-ins\b|-alone\b)/gi,
    instead: 'say "is", "is at", "is in" or "appears"',
  },
];

/** Comments, where line comments that follow each other are one. */
function paragraphs(source) {
  const found = [];
  for (const { type, range } of source.getAllComments()) {
    const last = found.at(-1);
    if (type === 'Line' && last?.type === 'Line' && /^\s*$/.test(source.text.slice(last.range[1], range[0])))
      last.range[1] = range[1];
    else found.push({ type, range: [...range] });
  }
  return found;
}

/** No riddles in comments and texts. */
export const plainWords = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { riddle: '"{{word}}" makes a riddle of this sentence: {{instead}}.' },
  },
  create(context) {
    const source = context.sourceCode;
    const check = ({ range }) => {
      const text = source.text.slice(...range);
      for (const { words, instead } of riddles)
        for (const match of text.matchAll(words)) {
          const start = range[0] + match.index;
          const loc = { start: source.getLocFromIndex(start), end: source.getLocFromIndex(start + match[0].length) };
          context.report({ loc, messageId: 'riddle', data: { word: match[0].replace(/[\s*/]+/g, ' '), instead } });
        }
    };
    return {
      Program: () => paragraphs(source).forEach(check),
      Literal: (node) => typeof node.value === 'string' && check(node),
      TemplateElement: check,
    };
  },
};

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only: a thing has one name everywhere.',
};
const noBarrel = {
  selector: 'ExportAllDeclaration',
  message: "No barrels but the contract's: import from the file that has it.",
};

/** A list of some hundred thousand items overflows the stack as arguments. */
const noSpreadOfLists = {
  selector:
    'CallExpression[callee.property.name=/^(?:push|unshift|splice|toSpliced|fromCharCode|fromCodePoint)$/] > SpreadElement, CallExpression[callee.object.name="Math"] > SpreadElement',
  message:
    'Long lists overflow the stack as arguments: append(), greatest() and least() of runtime/fhir/lists.ts take any.',
};

export default tseslint.config(
  { ignores: ['generated/', 'test/golden/expected/', 'dist/', 'coverage/', 'data/', '.cache/', 'test/packages/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { plugins: { kiln: { rules: { 'doc-comment-on-exports': docCommentOnExports, 'plain-words': plainWords } } } },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'no-restricted-syntax': ['error', noDefaultExport, noBarrel],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      // `items[i]!` is how we say "within bounds" under noUncheckedIndexedAccess.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // tsc reports these.
      '@typescript-eslint/no-unused-vars': 'off',
      // These need types; the rest of the type-aware rules costs more time than it finds.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['runtime/**/*.ts', 'generator/**/*.ts', 'test/bench/{,search/}*.ts'],
    rules: { 'kiln/doc-comment-on-exports': 'error' },
  },
  {
    files: ['runtime/**/*.ts', 'generator/**/*.ts'],
    ignores: ['runtime/cli/**'],
    // runtime/observe logs, and only commands speak to a terminal.
    rules: { 'no-console': 'error' },
  },
  {
    files: ['{runtime,generator,scripts}/**/*.{ts,js,mjs,cjs}'],
    rules: { 'kiln/plain-words': 'error' },
  },
  {
    files: ['runtime/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', noDefaultExport, noBarrel, noSpreadOfLists] },
  },
  {
    files: ['runtime/contract/index.ts', '*.config.{js,ts}', '.*.cjs'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: { console: 'readonly', module: 'writable', process: 'readonly', require: 'readonly', URL: 'readonly' },
    },
  },
  {
    files: ['runtime/pages/assets/*.js'],
    languageOptions: {
      sourceType: 'script',
      globals: Object.fromEntries(
        [
          'addEventListener',
          'document',
          'DOMParser',
          'Event',
          'fetch',
          'FormData',
          'getSelection',
          'history',
          'location',
          'sessionStorage',
          'navigator',
          'performance',
          'scrollTo',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
