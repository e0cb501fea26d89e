/** The texts of forms that are alike in all nodes, for the catalogues: `tools/generate.js`. */

/** Texts of every form. */
export const FORM_TEXTS = { advanced: 'Advanced', lines: 'one a line', pem: 'PEM text, or the path of its file' }

/** Texts of a form that refers to config nodes. */
export const REFERENCE_TEXTS = { makeOne: 'Make one: __place__', newOne: 'New __label__…' }

/** Texts of a table in it. */
export const TABLE_TEXTS = {
  addRow: 'Add row',
  deleteRow: 'Delete row (Alt+Delete)',
  importCsv: 'Import CSV…',
  exportCsv: 'Export CSV',
  noRows: 'No rows yet: add one, paste them from a spreadsheet, or import a CSV file.',
  row: '1 row',
  rows: '__n__ rows',
  problem: '1 problem',
  problems: '__n__ problems',
  unknownColumn: '1 unknown column left out: __names__',
  unknownColumns: '__n__ unknown columns left out: __names__',
  tooManyRows: '__n__ more left out: the table is full',
  importHow: 'Rows in __file__: __n__. Rows in the table: __rows__.',
  replaceRows: 'Replace',
  appendRows: 'Append',
  cancelImport: 'Cancel'
}

/** Texts of *Try*. */
export const TRY_TEXTS = {
  try: 'Try',
  tryClose: 'Close',
  tryWaiting: 'Reading…',
  tryNoDevice: 'Choose the device first.',
  tryHint: 'A click on a value takes its type and order.',
  tryType: 'Type',
  tryForbidden: 'You may not try this: it needs the right to deploy.',
  tryUnanswered: 'Node-RED does not answer.'
}

/** Texts of a table whose columns are partly folded away. */
export const DETAILS_TEXTS = {
  rowDetails: 'Mapping __n__: time, tags, fields',
  moveUp: 'Move up (Alt+↑): the first that matches decides',
  moveDown: 'Move down (Alt+↓)'
}

/** Texts of lists that something is offered for. */
export const OFFER_TEXTS = { offer: { topics: 'Add: what the server has' } }

/** Texts of the trial of mappings. */
export const TRIAL_TEXTS = {
  listen: 'Listen',
  listenHint: 'Shows what becomes of the messages that the broker has now. It changes nothing there.',
  listenStop: 'Stop',
  listenConnecting: 'Connecting…',
  listening: 'Topics: __topics__, messages: __messages__; __s__ s left.',
  listenEnded: 'Topics: __topics__, messages: __messages__. Edit the mappings: these messages are tried again.',
  listenNothing: 'Nothing was heard.',
  listenNoBroker: 'Choose the broker or server first.',
  listenForbidden: 'You may not try this: it needs the right to deploy.',
  listenUnanswered: 'Node-RED does not answer.',
  tryTopic: 'Try: topic',
  tryPayload: 'Payload',
  topicMatches: '1 topic matches',
  topicsMatch: '__n__ topics match',
  topicDoesNot: '1 does not',
  topicsDoNot: '__n__ do not',
  byMapping: 'by mapping __n__',
  noMapping: 'no mapping matches: this is what it becomes without one',
  sparkplugRow: 'Sparkplug B: it is read with the births of its node, while the node runs; here only the pattern is tried.',
  rowSource: 'Source',
  rowTime: 'Time',
  rowTag: 'tag',
  moreRow: 'And 1 more row.',
  moreRows: 'And __n__ more rows.',
  refusedValue: 'Refused: __reason__',
  refusedCount: '__n__ refused'
}

/** Texts of the check of a DBC file. */
export const DBC_TEXTS = {
  checkDbc: 'Check file',
  dbcChecking: 'Reading…',
  dbcFound: 'Messages: __messages__, signals: __signals__.',
  dbcWarning: '1 line could not be read:',
  dbcWarnings: '__n__ lines could not be read:',
  dbcMore: 'And __n__ more.',
  dbcForbidden: 'You may not check files: it needs the right to deploy.',
  dbcUnanswered: 'Node-RED does not answer.'
}

/** Of a node's button. */
export const BUTTON_TEXTS = {
  pressStarted: '__name__ has started.',
  pressStopping: '__name__ is stopping: what has been measured is kept.',
  pressChanged: 'Deploy first: the node has changed.',
  pressForbidden: 'You may not press this: it needs the right to deploy.',
  pressUnanswered: 'Node-RED does not answer.'
}

/** Of the list of reports. */
export const REPORTS_TEXTS = {
  reports: 'Reports',
  reportsRefresh: 'Refresh',
  reportsNone: 'None yet.',
  reportsForbidden: 'You may not see them: it needs a login.',
  reportsUnanswered: 'They are listed once the node is deployed.'
}

/** Of the test of a connection. */
export const TEST_TEXTS = {
  test: 'Test connection',
  testing: 'Trying…',
  testForbidden: 'You may not try this: it needs the right to deploy.',
  testUnanswered: 'Node-RED does not answer.'
}
