/** The pages by what their reader wants, as the navigation shows them: the path in the repository, and what it is called there. */
export const CONTENTS = [
  { title: 'Tutorial', pages: { 'README.md': 'Sluice in five minutes' } },
  {
    title: 'How to',
    pages: {
      'docs/deploy.md': 'Deploy',
      'docs/live.md': 'Watch a gateway',
      'docs/access.md': 'Decide who may do what',
      'docs/databases.md': 'Use databases',
      'docs/replace.md': 'Replace your nodes',
      'docs/examples.md': 'Try the examples',
      'docs/scale.md': 'Run many gateways',
      'docs/engines.md': 'Use Flink or Spark',
      'docs/studies.md': 'Measure again what papers have measured',
      'SECURITY.md': 'Report a weakness'
    }
  },
  {
    title: 'Reference',
    pages: {
      'docs/nodes.md': 'Nodes',
      'docs/messages.md': 'Messages',
      'docs/protocol.md': 'Topics and brokers',
      'docs/command-line.md': 'Command line',
      'docs/alarms.md': 'Alarms',
      'docs/metrics.md': 'Metrics',
      'docs/errors.md': 'Errors',
      'CHANGELOG.md': 'Changelog'
    }
  },
  { title: 'Explanation', pages: { 'docs/promise.md': 'The promise', 'docs/measurements.md': 'Measurements' } }
]
