import { expect } from 'chai'
import { help } from '../../tools/help.js'
import { catalogueProblems, Language, readLanguages } from '../../tools/languages.js'

describe('the languages of the editor', () => {
  it('say a text as a node does, where that needs another word', () => {
    const german = new Language('de', { Unit: 'Einheit', 'sluice-modbus-device: Unit': 'Unit-ID' })
    expect(german.say('Unit', 'sluice-modbus-device')).to.equal('Unit-ID')
    expect(german.say('Unit', 'sluice-csv')).to.equal('Einheit')
    expect(german.say('')).to.equal('')
    expect(german.problems).to.deep.equal([])
  })

  it('lack a text that has no translation, and say it in English meanwhile', () => {
    const german = new Language('de', {})
    expect(german.say('Spool size')).to.equal('Spool size')
    expect(german.problems).to.deep.equal(['tools/languages/de.json lacks "Spool size": add it with its translation.'])
  })

  it('have none that nothing says', () => {
    const german = new Language('de', { Old: 'Alt', New: 'Neu' })
    german.say('New')
    expect(german.problems).to.deep.equal(['tools/languages/de.json has "Old", which nothing says any more: remove it.'])
  })

  it('keep what is filled in, and code', () => {
    const texts = { '__n__ rows': 'Zeilen', 'Run `npm start`': '`npm Start` ausführen', '__a__ of __b__': '__b__, davon __a__' }
    const german = new Language('de', texts)
    for (const text of Object.keys(texts)) german.say(text)
    expect(german.problems).to.deep.equal([
      'tools/languages/de.json, "__n__ rows": the translation has lost __n__: put it where it belongs.',
      'tools/languages/de.json, "Run `npm start`": the translation has lost `npm start`: put it where it belongs.',
      'tools/languages/de.json, "Run `npm start`": the translation has `npm Start`, which the English lacks: remove it.'
    ])
  })

  it('translate help by paragraphs, entries and rows, and leave code and marks alone', () => {
    const english = [
      'Stores\nbatches.', '### Inputs', ': payload (batch) : what to store', '- one,\n  wrapped\n- `code`', '| a | b |\n|---|---|',
      '```js\nlet text\n\nreturn text\n```', '<!-- options -->'
    ].join('\n\n')
    const german = new Language('de', {
      'Stores batches.': 'Speichert Batches.', Inputs: 'Eingänge', 'what to store': 'was gespeichert wird',
      'one, wrapped': 'eins, umbrochen', '| a | b |': '| x | y |', Rate: 'Rate', 'Rows a second.': 'Zeilen je Sekunde.',
      'rows/s': 'Zeilen/s', ',': '\u202f', 'default __value__': 'voreingestellt __value__'
    })
    const rate = /** @type {const} */ ({ type: 'number', title: 'Rate', description: 'Rows a second.', 'x-unit': 'rows/s', default: 1000 })
    expect(help(english, { type: 'sluice-x', schema: { type: 'object', properties: { rate } }, language: german })).to.equal([
      'Speichert Batches.', '### Eingänge', ': payload (batch) : was gespeichert wird', '- eins, umbrochen\n- `code`',
      '| x | y |\n|---|---|', '```js\nlet text\n\nreturn text\n```',
      '<dl class="message-properties sluice-options">\n' +
      '<dt>Rate <span class="property-type">Zeilen/s, voreingestellt 1\u202f000</span></dt>\n<dd>Zeilen je Sekunde.</dd>\n</dl>'
    ].join('\n\n'))
    expect(german.problems).to.deep.equal([])
  })

  it('have the keys and placeholders of the English catalogue of the live page', () => {
    const english = { rows: { one: '{count} row', other: '{count} rows' }, all: 'all' }
    const problemsOf = (/** @type {any} */ texts) => catalogueProblems('de.json', texts, english)
    expect(problemsOf({ rows: { one: '{count} Zeile', other: '{count} Zeilen' }, all: 'alle' })).to.deep.equal([])
    expect(problemsOf({ rows: 'Zeilen', old: 'alt' })).to.deep.equal([
      'de.json lacks "all": add it with a translation of "all".',
      'de.json has "old", which nothing says any more: remove it.',
      'de.json, "rows": the translation has lost {count}: put it where it belongs.'
    ])
  })

  it('include German', () => {
    expect(readLanguages().map(({ code }) => code)).to.include('de')
  })
})
