import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cellReader } from '../../gateway/sources/csv/cells.js'
import { columnsOf } from '../../gateway/sources/csv/columns.js'
import { csvRecords } from '../../gateway/sources/csv/file.js'
import { formatOf, timeReader } from '../../gateway/sources/csv/time.js'

/** @typedef {import('./run.js').Target} Target */

const CSV = [
  'time,speed,"a ""b""",state\n2015-07-10T06:17:32.249Z,1.5,"x,\ny",on\n2015-07-10T06:17:33Z,,3,off\n',
  'ts;x;y\r\n1436509052;1,5;-\r\n1436509053;2,5;NaN\r\n', 'Date\tTime\tvalue\n2015-07-10\t06:17:32,5\t007\n', '\uFEFFtime,a,a,a\n1,2,3,4\n',
  '1436509052249,18446744073709551615,true\n'
].map(text => Buffer.from(text))
const CELLS = [
  'time', 'ts', '1.5', '-', '"', '""', '"a\nb"', 'x', '2015-07-10 06:17', '1e999', '0x1', '007', 'yes', '', ' ', '١', '9'.repeat(30)
]
const TYPES = /** @type {const} */ (['float64', 'int64', 'bool', 'string'])

const file = join(tmpdir(), `sluice-fuzz-${process.pid}.csv`)
process.once('exit', () => rmSync(file, { force: true }))

/** Files that people bring. @type {Target[]} */
export const fileTargets = [{
  name: 'csv',
  samples: CSV,
  refusals: ['SLUICE_CSV_COLUMNS'],
  invent (random) {
    const delimiter = random.pick([',', ';', '\t'])
    const row = () => Array.from({ length: 1 + random.below(6) }, () => random.pick(CELLS)).join(delimiter)
    return Buffer.from(Array.from({ length: 1 + random.below(8) }, row).join('\n'))
  },
  async read (bytes, random, pause) {
    writeFileSync(file, bytes)
    const rows = []
    for await (const records of csvRecords(file, { encoding: random.pick(['utf-8', 'windows-1252']), delimiter: 'auto' })) {
      for (const record of records) if ('cells' in record) rows.push(record.cells)
      await pause()
    }
    const decimal = random.pick([',', '.'])
    const texts = rows.flat()
    for (const type of TYPES) {
      const read = cellReader(type, decimal)
      for (const text of texts) read(text)
      await pause()
    }
    for (const text of texts.slice(0, 100)) timeReader(formatOf(text), { zone: 'Europe/Berlin', decimal })(text)
    if (rows.length > 0) columnsOf(rows[0], rows.slice(1), { columns: [], decimal, needsTime: random.oneIn(2) })
    return texts.length
  }
}]
