import js from '@eslint/js'
import globals from 'globals'

export default [
  { ignores: ['node_modules/', '.sluice/'] },
  js.configs.recommended,
  {
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
      'max-lines': ['warn', { max: 350, skipComments: true }]
    }
  },
  { files: ['test/**/*.js'], languageOptions: { globals: { ...globals.mocha } } },
  { files: ['resources/**/*.js', 'gateway/live/**/*.js', 'test/browser/**/*.js'], languageOptions: { globals: { ...globals.browser } } }
]
