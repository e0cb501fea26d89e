import js from '@eslint/js'
import stylistic from '@stylistic/eslint-plugin'
import { importX } from 'eslint-plugin-import-x'
import globals from 'globals'
import { FLOORS } from './tools/floors.js'

/** A floor knows nothing of those above it. */
const zones = FLOORS.map((floor, i) => ({
  target: `./${floor}`,
  from: FLOORS.slice(i + 1).map(above => `./${above}`),
  message: `${floor}/ may import only from floors below it (tools/floors.js).`
})).filter(({ from }) => from.length > 0)

export default [
  { ignores: ['node_modules/', '.sluice/', 'gateway/sparkplug/sparkplug_b_pb.*'] },
  js.configs.recommended,
  stylistic.configs.customize({ indent: 2, quotes: 'single', semi: false, commaDangle: 'never', braceStyle: '1tbs' }),
  {
    plugins: { 'import-x': importX },
    languageOptions: { ecmaVersion: 'latest', sourceType: 'module', globals: { ...globals.node } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }],
      'no-shadow': 'error',
      'object-shorthand': 'error',
      curly: ['error', 'multi-line'],
      'max-lines': ['warn', { max: 350, skipComments: true }],
      'import-x/no-restricted-paths': ['error', { zones }],
      'import-x/no-cycle': 'error',
      '@stylistic/array-bracket-spacing': 'off', // its fix removes a comment at the start of an array: JSDoc casts stand there
      '@stylistic/arrow-parens': ['error', 'as-needed'],
      '@stylistic/generator-star-spacing': ['error', 'both'],
      '@stylistic/max-statements-per-line': 'off',
      '@stylistic/no-mixed-operators': 'off',
      '@stylistic/operator-linebreak': ['error', 'after', { overrides: { '?': 'before', ':': 'before' } }],
      '@stylistic/quotes': ['error', 'single', { allowTemplateLiterals: 'always' }],
      '@stylistic/quote-props': ['error', 'as-needed'],
      '@stylistic/rest-spread-spacing': 'off',
      '@stylistic/yield-star-spacing': ['error', 'both'],
      '@stylistic/space-before-function-paren': ['error', 'always'],
      '@stylistic/max-len': ['error', { code: 140, ignoreUrls: true }]
    }
  },
  { files: ['test/**/*.js'], languageOptions: { globals: { ...globals.mocha } } },
  {
    files: ['resources/**/*.js', 'gateway/{live,site}/**/*.js', 'test/browser/**/*.js'],
    languageOptions: { globals: { ...globals.browser } }
  },
  { files: ['resources/**/*.js'], languageOptions: { globals: { RED: 'readonly', $: 'readonly' } } }
]
