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

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only: a thing has one name everywhere.',
};
const noBarrel = {
  selector: 'ExportAllDeclaration',
  message: "No barrels but the contract's: import from the file that has it.",
};

export default tseslint.config(
  { ignores: ['generated/', 'test/golden/expected/', 'dist/', 'coverage/', 'data/', '.cache/', 'test/packages/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
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
    plugins: { kiln: { rules: { 'doc-comment-on-exports': docCommentOnExports } } },
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
    files: ['runtime/**/*.ts', 'generator/**/*.ts', 'test/bench/*.ts'],
    rules: { 'kiln/doc-comment-on-exports': 'error' },
  },
  {
    files: ['runtime/**/*.ts', 'generator/**/*.ts'],
    ignores: ['runtime/cli/**'],
    // runtime/observe logs, and only commands speak to a terminal.
    rules: { 'no-console': 'error' },
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
);
