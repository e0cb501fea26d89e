import { DatabaseSync } from 'node:sqlite'

/**
 * The SQL that a fake SAP HANA takes: just the statements of the sink and the reader, with HANA's words and types, checked strictly and run
 * by SQLite. What differs from SQLite is done here: types and lengths, names that are capitals unless they are quoted, the system's views,
 * the numbers of errors.
 *
 * @typedef {import('./cells.js').Column} Column
 * @typedef {{sql: string, verb: string, parameters: Column[], columns: Column[], affects: boolean}} Statement
 */

export class SqlError extends Error {
  /** @param {number} code @param {string} message */
  constructor (code, message) {
    super(message)
    this.code = code
  }
}

const TYPES = 'BIGINT|INTEGER|SMALLINT|DOUBLE|REAL|BOOLEAN|TIMESTAMP|NVARCHAR\\((\\d+)\\)|VARBINARY\\((\\d+)\\)'
const TYPE = new RegExp(`^(${TYPES})( DEFAULT \\d+)?( NOT NULL)?( CHECK \\(.*\\))?$`)
/** As SQLite stores them. @type {Record<string, string>} */
const STORED = { DOUBLE: 'REAL', REAL: 'REAL', TIMESTAMP: 'TEXT', NVARCHAR: 'TEXT', VARBINARY: 'BLOB' }
/** What other databases have. */
const FOREIGN = /%|\bLIMIT \?|\bON CONFLICT\b|\bRETURNING\b|\$\d|::|\bIF NOT EXISTS\b/
const NAME = '"(?:[^"]|"")+"|[A-Za-z_][A-Za-z0-9_]*'
const BIGINT = { kind: 'BIGINT', length: 8 }
const TEXT = { kind: 'NVARCHAR', length: 5000 }
const MAX_LENGTH = 5000

const CATALOG = `
  CREATE TABLE IF NOT EXISTS "SYS.TABLES" (SCHEMA_NAME, TABLE_NAME, COMMENTS);
  CREATE TABLE IF NOT EXISTS "SYS.VIEWS" (SCHEMA_NAME, VIEW_NAME);
  CREATE TABLE IF NOT EXISTS "SYS.TABLE_COLUMNS" (SCHEMA_NAME, TABLE_NAME, COLUMN_NAME, DATA_TYPE_NAME, LENGTH, IS_NULLABLE,
    DEFAULT_VALUE, GENERATION_TYPE, POSITION);
  CREATE TABLE IF NOT EXISTS "SYS.M_DATABASE" (VERSION);
  CREATE TABLE IF NOT EXISTS DUMMY (DUMMY);`

/** One session's view of the database. */
export class FakeSql {
  #database

  /** @param {string} file */
  constructor (file) {
    this.#database = new DatabaseSync(file)
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    this.#database.exec(CATALOG)
    if (this.#all('SELECT 1 FROM DUMMY').length === 0) {
      this.#database.exec('INSERT INTO DUMMY VALUES (\'X\'); INSERT INTO "SYS.M_DATABASE" VALUES (\'2.00.0 (fake)\')')
    }
  }

  /** @param {'BEGIN IMMEDIATE'|'COMMIT'|'ROLLBACK'} statement */
  transaction (statement) {
    this.#database.exec(statement)
  }

  close () {
    this.#database.close()
  }

  /** @param {string} given @returns {Statement} */
  prepare (given) {
    const sql = given.trim()
    const [verb = ''] = /^\w+/.exec(sql) ?? []
    if (!['CREATE', 'ALTER', 'DROP', 'COMMENT', 'INSERT', 'UPDATE', 'DELETE', 'SELECT'].includes(verb)) {
      throw new SqlError(257, `sql syntax error: incorrect syntax near "${verb}"`)
    }
    const affects = verb !== 'SELECT' || / FOR UPDATE$/.test(sql)
    if (['CREATE', 'ALTER', 'DROP', 'COMMENT'].includes(verb)) return { sql, verb, parameters: [], columns: [], affects }
    const foreign = FOREIGN.exec(sql.replace(/"(?:[^"]|"")*"/g, '""'))
    if (foreign) throw new SqlError(257, `sql syntax error: incorrect syntax near "${foreign[0]}"`)
    const statement = { sql, verb, parameters: this.#parametersOf(sql), columns: verb === 'SELECT' ? this.#columnsOf(sql) : [], affects }
    this.#tried(() => this.#database.prepare(translated(sql)))
    return statement
  }

  /** @param {Statement} statement @param {any[]} values @returns {{rows: any[][], affected: number}} */
  run ({ sql, verb, parameters }, values) {
    parameters.forEach(({ name, kind, length }, i) => {
      const isLong = (kind === 'NVARCHAR' || kind === 'VARBINARY') && values[i]?.length > length
      if (isLong) throw new SqlError(274, `inserted value too large for column: "${name}"`)
    })
    return this.#tried(() => {
      if (verb === 'CREATE') return this.#create(sql)
      if (verb === 'ALTER') return this.#alter(sql)
      if (verb === 'DROP' || verb === 'COMMENT') return this.#other(sql)
      const prepared = this.#database.prepare(translated(sql))
      prepared.setReadBigInts(true)
      if (verb !== 'SELECT') return { rows: [], affected: Number(prepared.run(...values).changes) }
      prepared.setReturnArrays(true)
      return { rows: /** @type {any} */ (prepared.all(...values)), affected: 0 }
    })
  }

  /** @template T @param {() => T} work */
  #tried (work) {
    try {
      return work()
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      if (error instanceof SqlError) throw error
      if (/UNIQUE constraint/.test(message)) throw new SqlError(301, `unique constraint violated: ${message}`)
      if (/NOT NULL constraint/.test(message)) throw new SqlError(287, `cannot insert NULL or update to NULL: ${message}`)
      if (/CHECK constraint/.test(message)) throw new SqlError(677, `check constraint violation: ${message}`)
      if (/no such table/.test(message)) throw new SqlError(259, `invalid table name: ${message}`)
      if (/no such column|has no column/.test(message)) throw new SqlError(260, `invalid column name: ${message}`)
      if (/already exists/.test(message)) throw new SqlError(288, `cannot use duplicate table name: ${message}`)
      if (/duplicate column/.test(message)) throw new SqlError(272, `duplicate column name: ${message}`)
      throw new SqlError(257, `sql syntax error: ${message}`)
    }
  }

  /** @param {string} sql */
  #create (sql) {
    const view = new RegExp(`^CREATE VIEW (${NAME}) AS (.*)$`).exec(sql)
    if (view) {
      this.#database.exec(sql)
      this.#database.prepare('INSERT INTO "SYS.VIEWS" VALUES (\'SLUICE\', ?)').run(plain(view[1]))
      return { rows: [], affected: 0 }
    }
    const [, name, body, comment] = new RegExp(`^CREATE COLUMN TABLE (${NAME}) \\((.*)\\)(?: COMMENT '([^']*)')?$`, 's').exec(sql) ??
      refuse(sql)
    const items = split(body)
    const key = items.filter(item => item.startsWith('PRIMARY KEY')).map(item => `, ${translated(item)}`).join('')
    const columns = items.filter(item => !item.startsWith('PRIMARY KEY')).map(declared)
    this.#database.exec(`CREATE TABLE ${storedName(name)} (${columns.map(({ stored }) => stored).join(', ')}${key})`)
    this.#database.prepare('INSERT INTO "SYS.TABLES" VALUES (\'SLUICE\', ?, ?)').run(plain(name), comment ?? null)
    this.#note(plain(name), columns)
    return { rows: [], affected: 0 }
  }

  /** @param {string} sql */
  #alter (sql) {
    const [, name, body] = new RegExp(`^ALTER TABLE (${NAME}) ADD \\((.*)\\)$`, 's').exec(sql) ?? refuse(sql)
    const columns = split(body).map(declared)
    for (const { stored } of columns) this.#database.exec(`ALTER TABLE ${storedName(name)} ADD COLUMN ${stored}`)
    this.#note(plain(name), columns)
    return { rows: [], affected: 0 }
  }

  /** @param {string} sql */
  #other (sql) {
    const dropped = new RegExp(`^DROP TABLE (${NAME})$`).exec(sql)
    const [, name, comment] = dropped ?? new RegExp(`^COMMENT ON TABLE (${NAME}) IS '([^']*)'$`).exec(sql) ?? refuse(sql)
    if (dropped) {
      this.#database.exec(translated(sql))
      for (const list of ['TABLES', 'TABLE_COLUMNS']) {
        this.#database.prepare(`DELETE FROM "SYS.${list}" WHERE TABLE_NAME = ?`).run(plain(name))
      }
    } else {
      this.#database.prepare('UPDATE "SYS.TABLES" SET COMMENTS = ? WHERE TABLE_NAME = ?').run(comment, plain(name))
    }
    return { rows: [], affected: 0 }
  }

  /** @param {string} table @param {ReturnType<typeof declared>[]} columns */
  #note (table, columns) {
    const [{ n }] = this.#all('SELECT COUNT(*) AS n FROM "SYS.TABLE_COLUMNS" WHERE TABLE_NAME = ?', table)
    const insert = this.#database.prepare('INSERT INTO "SYS.TABLE_COLUMNS" VALUES (\'SLUICE\', ?, ?, ?, ?, ?, ?, NULL, ?)')
    columns.forEach(({ name, kind, length, required, standard }, i) => {
      insert.run(table, name, kind, length, required ? 'FALSE' : 'TRUE', standard, Number(n) + i)
    })
  }

  /** The column that each ? is compared with, or stored in. @param {string} sql @returns {Column[]} */
  #parametersOf (sql) {
    const known = this.#known(sql)
    const inserted = new RegExp(`^INSERT INTO (?:${NAME}) \\((.*)\\) VALUES \\(\\?(?:, \\?)*\\)$`, 's').exec(sql)
    if (inserted) return split(inserted[1]).map(name => known(plain(name)))
    if (sql.startsWith('INSERT')) refuse(sql)
    return Array.from(sql.matchAll(new RegExp(`(?:(${NAME}) (?:=|<|<=|>|>=) |(OFFSET) )\\?`, 'g')), ([, name, offset]) => {
      return offset ? { name: '', kind: 'INTEGER', length: 4 } : known(plain(name))
    })
  }

  /** @param {string} sql @returns {Column[]} */
  #columnsOf (sql) {
    const known = this.#known(sql)
    const [, list] = /^SELECT (.*?) FROM /s.exec(sql) ?? refuse(sql)
    return split(list).map(item => {
      const [, of, alias] = new RegExp(`^(.*?)(?: AS (${NAME}))?$`, 's').exec(item) ?? []
      const name = plain(alias ?? of)
      if (/^COUNT\(/.test(of)) return { name, ...BIGINT }
      const inner = /^(?:MIN|MAX)\((.*)\)$/.exec(of)?.[1] ?? of
      return /^CURRENT_/.test(inner) ? { name, ...TEXT } : { ...known(plain(inner)), name }
    })
  }

  /** The columns of the statement's table. @param {string} sql @returns {(name: string) => Column} */
  #known (sql) {
    const [, table] = new RegExp(`(?:FROM|INTO|^UPDATE) (SYS\\.\\w+|${NAME})`).exec(sql) ?? refuse(sql)
    if (table.startsWith('SYS.') || table === 'DUMMY') return name => ({ name, .../POSITION|LENGTH/.test(name) ? BIGINT : TEXT })
    const its = this.#all('SELECT * FROM "SYS.TABLE_COLUMNS" WHERE TABLE_NAME = ?', plain(table))
    if (its.length === 0) throw new SqlError(259, `invalid table name: Could not find table ${table}`)
    return name => {
      const found = its.find(({ COLUMN_NAME: column }) => column === name)
      if (!found) throw new SqlError(260, `invalid column name: ${name}`)
      return { name, kind: found.DATA_TYPE_NAME, length: found.LENGTH }
    }
  }

  /** @param {string} sql @param {any[]} values @returns {any[]} */
  #all (sql, ...values) {
    return this.#database.prepare(sql).all(...values)
  }
}

/** @param {string} sql @returns {never} */
function refuse (sql) {
  throw new SqlError(257, `sql syntax error: ${sql.slice(0, 200)}`)
}

/** As SQLite has a name that is quoted: its own know no case. @param {string} name */
export const storedName = name => name.replace(/[A-Z]/g, '\u0001$&')
/** @param {string} stored */
export const nameOfStored = stored => stored.replaceAll('\u0001', '')

/** As the server keeps a name. @param {string} name */
function plain (name) {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toUpperCase()
}

/** At commas that are in no brackets and no name. @param {string} text */
function split (text) {
  return text.match(/(?:"(?:[^"]|"")*"|\([^()]*(?:\([^()]*\)[^()]*)*\)|[^,"(])+/g)?.map(item => item.trim()) ?? []
}

/** A column of CREATE or ALTER. @param {string} text */
function declared (text) {
  const [, quoted, type] = new RegExp(`^(${NAME}) (.*)$`, 's').exec(text) ?? refuse(text)
  const [, full, letters, bytes, standard, required] = TYPE.exec(type) ?? refuse(text)
  const kind = full.replace(/\(.*/, '')
  const length = Number(letters ?? bytes ?? 8)
  if (length < 1 || length > MAX_LENGTH) throw new SqlError(257, `sql syntax error: length of ${quoted}`)
  const name = plain(quoted)
  if (Buffer.byteLength(name) > 127) throw new SqlError(257, 'sql syntax error: identifier is too long')
  const rest = type.slice(full.length)
  return {
    name,
    kind,
    length,
    required: required !== undefined,
    standard: standard?.replace(' DEFAULT ', '') ?? null,
    stored: `${quoted.startsWith('"') ? storedName(quoted) : quoted} ${STORED[kind] ?? 'INTEGER'}${rest}`
  }
}

/** For SQLite. @param {string} sql */
function translated (sql) {
  const outside = (/** @type {string} */ text) => text
    .replace('TO_VARCHAR(CURRENT_UTCTIMESTAMP)', 'strftime(\'%Y-%m-%d %H:%M:%f\')')
    .replace(/\bSYS\.(\w+)/g, '"SYS.$1"')
    .replace(/\bCURRENT_(SCHEMA|USER)\b/g, '\'SLUICE\'')
  const parts = sql.replace(/ FOR UPDATE$/, '').split(/("(?:[^"]|"")*")/)
  return parts.map((text, i) => i % 2 === 1 ? storedName(text) : outside(text)).join('')
}
