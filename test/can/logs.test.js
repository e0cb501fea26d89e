import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { formatCandumpLine } from '../../gateway/can/candump/line.js'
import { openCandumpPlayer } from '../../gateway/can/candump/player.js'
import { framesOf } from '../../gateway/can/payload.js'
import { entriesOf, logEntries } from '../../gateway/can/logs/log-file.js'
import { LogLines } from '../../gateway/can/logs/log-lines.js'
import { recorder } from '../sources/manual-clock.js'

const NOT_FRAMES = {
  BLF: 'LOGG\u0090\u0000',
  MDF: 'MDF     4.11',
  pcap: '\u00d4\u00c3\u00b2\u00a1\u0002',
  gzip: '\u001f\u008b\u0008',
  'Digital Yacht': '!PDGY,129029,3,2,255,483.236,UZ9FfR',
  iKonvert: '$PDGY,000000,,,,,,'
}

/**
 * What a log holds: its frames as candump writes them, and why other lines are refused.
 * @param {string} text
 */
async function read (text) {
  const entries = []
  for await (const block of entriesOf(bytesOf(text), 'the log')) entries.push(...block)
  return entries.map(entry => 'reason' in entry ? `line ${entry.line}: ${entry.reason}` : formatCandumpLine(entry.frame))
}

/** @param {string} text */
async function * bytesOf (text) {
  yield Buffer.from(text)
}

describe('logs of Vector ASC', () => {
  /** @param {string} [base] @param {string} [day] */
  const header = (base = 'base hex  timestamps absolute', day = 'Wed Apr 16 09:21:13.159 am 2014') =>
    `date ${day}\n${base}\ninternal events logged\n// version 9.0.0\nBegin Triggerblock ${day}\n   0.000000 Start of measurement\n`

  it('hold frames of 11 and 29 bits and remote frames, among other events', async () => {
    expect(await read(`${header()}   0.015991 CAN 1 Status:chip status error active
   1.015991 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%
   1.500000 1  6F9             Rx   d 8 05 0C 00 00 00 00 00 ff  Length = 240015 BitCount = 124 ID = 1785
   2.000001 2  18EBFF00x       Tx   d 3 01 A0 0F    Length = 273910 BitCount = 141 ID = 418119424x
   2.500000 1  J1939TP FEE3p        6    0  0   -   Rx   d 3 A0 0F A6
   2.600000 1  100             TxRq r
   3.000000 2  200             Rx   r 8
   3.500000 1  64              Rx   d 0
   4.000000 1  ErrorFrame ECC: 10100010
End TriggerBlock
`)).to.deep.equal([
      '(1397640074.659000) can1 6F9#050C0000000000FF',
      '(1397640075.159001) can2 18EBFF00#01A00F',
      '(1397640076.159000) can2 200#R',
      '(1397640076.659000) can1 064#',
      '(1397640077.159000) can1 20000088#0000000000000000'
    ])
  })

  it('hold frames of CAN FD, with and without a name, and classic ones in the same form', async () => {
    const zeros = Array(12).fill('00').join(' ')
    expect(await read(`${header()}
  30.0 CANFD   1 Rx        300  Generic_Name_12   1 0 8  8 01 02 03 04 05 06 07 08   102203  133   303000 e0006659 46500250
  30.1 CANFD   2 Tx   1C4D80A7x                   0 1 9 12 ${zeros}   102203  133   301000 e0006659
  30.2 CANFD   2 Tx        123                    0 0 2  2 0A 0B   102203  133   200000 e0006659
  30.3 CANFD   3 Tx     50005x                    0 1 5 0 140000 73 200050 7a60 46500250
  30.4 CANFD   5 Tx ErrorFrame Not Acknowledge error
`)).to.deep.equal([
      '(1397640103.159000) can1 300##10102030405060708',
      `(1397640103.259000) can2 1C4D80A7##1${'00'.repeat(12)}`,
      '(1397640103.359000) can2 123#0A0B',
      '(1397640103.459000) can3 00050005#R',
      '(1397640103.559000) can5 20000088#0000000000000000'
    ])
  })

  it('may be decimal, with times since the last event, on any day that is written in English or German', async () => {
    const events = '   1.0 Start\n   0.5 1 100 Rx d 2 16 255\n   0.5 1 2048x Rx d 1 9\n'
    expect(await read(`${header('base dec  timestamps relative', 'Mon Mär 5 12:00:00 2018')}${events}`)).to.deep.equal([
      '(1520251201.500000) can1 064#10FF', '(1520251202.000000) can1 00000800#09'
    ])
    const afternoon = await read(`${header('base hex timestamps absolute', 'Thu Apr 16 01:59:01.000 pm 2020')}  0.5 1 1 Rx d 0\n`)
    expect(afternoon).to.deep.equal(['(1587045541.500000) can1 001#'])
    expect(await read(`${header('base hex timestamps absolute', 'sam. févr. 1 00:00:00 2020')}  0.5 1 1 Rx d 0\n`))
      .to.deep.equal(['(0000000000.500000) can1 001#'])
  })

  it('have bad lines, which are told', async () => {
    expect(await read(`${header()}nonsense
   1.0 1 800 Rx d 1 00
   1.0 1 100 Rx d 3 00 11
   1.0 1 100 Rx d 2 00 1G1
   1.0 1 100 Rx q
   1.0 CANFD 1 Rx 100 1 0 8 99 00
`)).to.deep.equal([
      'line 7: not a line of Vector ASC',
      'line 8: an identifier beyond 11 bits',
      'line 9: 2 data bytes where 3 are announced',
      'line 10: 1 data bytes where 2 are announced',
      'line 11: not a frame of Vector ASC',
      'line 12: 99 data bytes'
    ])
  })
})

describe('logs of PCAN TRC', () => {
  const START = ';$STARTTIME=44548.6028595139\n' // 14:28:07.062 on 18 December 2021
  const FIRST = '(1639837704.597400)'

  for (const [version, header, lines, time = FIRST] of /** @type {[string, string, string, string?][]} */ ([
    ['1.0', ';####\n;   Start time: 18.12.2021 14:28:07.062\n', `     1)     17535  00000100  2  00 01
     2)     17540  FFFFFFFF  4  00 00 00 08 -- -- -- -- BUSHEAVY
     3)     17541      0704  1  RTR
     4)     17542      0008  4  ERROR 00 19 08 08`, '(1639837704.597000)'],
    ['1.1', `;$FILEVERSION=1.1\n${START}`, `     1)     17535.4  Tx     00000100  2  00 01
     2)     17540.3  Warng  FFFFFFFF  4  00 00 00 08  BUSHEAVY
     3)     17541.4  Rx         0704  1  RTR
     4)     17542.4  Error      0008  4  00 19 08 08`],
    ['1.2', `;$FILEVERSION=1.2\n${START}`, `     1)     17535.400 1  Tx    00000100 2    00 01
     3)     17541.400 1  Rx        0704 1    RTR
     4)     17542.400 1  Error     0008 4    00 19 08 08`],
    ['1.3', `;$FILEVERSION=1.3\n${START}`, `     1)     17535.400 1  Tx    00000100 -  2    00 01
     2)     17540.300 1  Warng FFFFFFFF -  4    00 00 00 08 BUSHEAVY
     3)     17541.400 1  Rx        0704 -  1    RTR
     4)     17542.400 1  Error     0008 -  4    00 19 08 08`],
    ['2.0', `;$FILEVERSION=2.0\n${START};$COLUMNS=N,O,T,I,d,l,D\n`, `      1     17535.400 DT 00000100 Tx 2  00 01
      2     17540.300 ST          Rx    00 00 00 08
      3     17541.400 RR     0704 Rx 1
      4     17542.400 ER          Rx    04 00 02 00 00`],
    ['2.1', `;$FILEVERSION=2.1\n${START};$COLUMNS=N,O,T,B,I,d,R,L,D\n`, `      1     17535.400 DT 1  00000100 Tx -  2    00 01
      2     17540.300 ST 1         - Rx -  4    00 00 00 08
      3     17541.400 RR 1      0704 Rx -  1
      4     17542.400 ER 1         - Rx -  5    04 00 02 00 00`]
  ])) {
    it(`of version ${version} hold data and remote frames, and errors`, async () => {
      const frames = await read(`${header}; a comment\n;---+--   ----+----\n${lines}\n`)
      expect(frames.map(frame => frame.slice(frame.indexOf(' ') + 1)))
        .to.deep.equal(['can1 00000100#0001', 'can1 704#R', 'can1 20000088#0000000000000000'])
      expect(frames[0].split(' ')[0]).to.equal(time)
    })
  }

  it('hold frames of CAN FD, by their length or its code', async () => {
    const data = Array(12).fill('11').join(' ')
    expect(await read(`;$FILEVERSION=2.1\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n 1 1.5 FB 2 18EF4AF1 Rx - 9 ${data}\n`))
      .to.deep.equal([`(0000000000.001500) can2 18EF4AF1##1${'11'.repeat(12)}`])
    expect(await read(`;$FILEVERSION=2.0\n;$COLUMNS=N,O,T,I,d,l,D\n 1 1.5 FD 0100 Rx 12 ${data}\n`))
      .to.deep.equal([`(0000000000.001500) can1 100##1${'11'.repeat(12)}`])
  })

  it('have bad lines, which are told', async () => {
    expect(await read(`;$FILEVERSION=1.1\nnonsense\n 1) 1.0 Rx 123 1 00\n 1) 1.0 Rx 0123 9 00\n 1) 1.0 Rx 0123 3 00 11\n`)).to.deep.equal([
      'line 2: not a line of PCAN TRC',
      'line 3: identifier 123 has neither 4 nor 8 digits',
      'line 4: 9 data bytes',
      'line 5: 2 data bytes where 3 are announced'
    ])
  })
})

describe('logs of NMEA 2000 gateways', () => {
  it('are what actisense-serial and canboat write, with their many times', async () => {
    expect(await read(`# format=PLAIN
2016-02-28T19:57:02.364Z,2,127250,7,255,8,ff,10,3b,ff,7f,ce,f5,fc
2011-04-25-10:16:43.004,6,59904,3,17,3,14,F0,1
2026-08-09T13:42:55.841473308-07:00,2,127250,7,255,2,00,01
,2,127250,7,255,1,00
`)).to.deep.equal([
      '(1456689422.364000) n2k 09F11207#FF103BFF7FCEF5FC',
      '(1303726603.004000) n2k 18EA1103#14F001',
      '(1786308175.841473308) n2k 09F11207#0001',
      '(0000000000.000000) n2k 09F11207#00'
    ])
  })

  it('hold whole messages from the first that is longer than a frame', async () => {
    const log = new LogLines()
    const whole = ['2,127250,7,255,1,00', '6,126208,0,67,9,01,16,f0,01,ff,01,02,0e,01', '6,126208,0,67,2,02,03']
      .map(line => log.parse(`2016-02-28T19:57:02.364Z,${line}`))
    expect(whole.map(frame => frame && 'isWhole' in frame)).to.deep.equal([false, true, true])
  })

  it('are Actisense N2K ASCII, with the time of the day', async () => {
    expect(await read('A173321.107 23FF7 1F513 012F3070002F30709F\n'))
      .to.deep.equal(['(0000063201.107000) n2k 1DF51323#012F3070002F30709F'])
  })

  it('are Yacht Devices RAW, received and sent, with the time of the day', async () => {
    expect(await read(`17:33:21.107 R 19F51323 01 2F 30 70 00 2F 30 70
17:33:21.108 R 19F51323 02 00
17:33:21.190 T 1DEFFF00 A1 00 DF 83 00 00
17:33:21.191 R 0DF50B23
`)).to.deep.equal([
      '(0000063201.107000) n2k 19F51323#012F3070002F3070',
      '(0000063201.108000) n2k 19F51323#0200',
      '(0000063201.190000) n2k 1DEFFF00#A100DF830000',
      '(0000063201.191000) n2k 0DF50B23#'
    ])
  })

  it('go on after midnight where they have but the time of the day', async () => {
    const times = async (/** @type {string} */ text) => (await read(text)).map(line => line.slice(0, 20))
    const days = ['(0000086399.999000) ', '(0000086400.001000) ', '(0000086400.000000) ', '(0000172800.000000) ']
    const clock = ['23:59:59.999', '00:00:00.001', '00:00:00.000', '23:00:00.000', '00:00:00.000']
    expect(await times(clock.map(time => `${time} R 0DF50B23 00`).join('\n')))
      .to.deep.equal([...days.slice(0, 3), '(0000169200.000000) ', days[3]])
    expect(await times('A235959.999 23FF7 1F513 01\nA000000.001 23FF7 1F513 01\n')).to.deep.equal(days.slice(0, 2))
  })

  it('of a Digital Yacht gateway are refused line by line, too, with what to do', () => {
    const { frames, refused } = framesOf('!PDGY,126992,3,2,255,0.563,d2009e45b3b8821d')
    expect(frames).to.deep.equal([])
    expect(refused[0].reason).to.match(/^a log of a Digital Yacht gateway .*, which is not read; Convert it with ikonvert-serial/)
  })

  it('have bad lines, which are told', async () => {
    expect(await read('17:33:21.107 R 19F51323 01\n17:33 R 19F51323 01\n17:33:21.1 R 39F51323 01\n' +
      `17:33:21.107 R 39F51323 01\n17:33:21.107 R 19F51323${' 00'.repeat(9)}\n`)).to.deep.equal([
      '(0000063201.107000) n2k 19F51323#01',
      'line 2: not a line of Yacht Devices RAW',
      'line 3: not a line of Yacht Devices RAW',
      'line 4: an identifier beyond 29 bits',
      'line 5: 9 data bytes'
    ])
    expect(await read('2016-02-28T19:57:02.364Z,0,262384,0,0,1,00\n2016-02-28T19:57:02.364Z,0,59904,0,0,2,00\nnonsense\n')).to.deep.equal([
      'line 1: not a parameter group and two addresses',
      'line 2: 1 data bytes where 2 are announced',
      'line 3: not a line of actisense-serial or canboat'
    ])
    expect(await read('A173321.107 23FF7 1F513 01\nA17 23FF7 1F513 01\n')).to.include('line 2: not a line of Actisense N2K ASCII')
  })

  it('hold messages that are whole, too, once they were rows of can read', () => {
    const { frames: [{ frame }] } = framesOf({ id: 0x0DF80507, extended: true, fd: false, data: Buffer.alloc(43) })
    expect(frame).to.include({ fd: false, isWhole: true })
  })

  it('may be given to can decode, line by line', () => {
    const { frames, refused } = framesOf('2016-02-28T19:57:02.364Z,2,127250,7,255,8,ff,10,3b,ff,7f,ce,f5,fc')
    expect(refused).to.deep.equal([])
    expect(frames.map(({ frame, ns }) => [frame.id, ns])).to.deep.equal([[0x09F11207, 1456689422364000000n]])
  })
})

describe('logs of any format', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-logs-'))
  const logFile = path.join(folder, 'bus.log')
  after(() => rmSync(folder, { recursive: true }))

  it('are played with their times, long messages whole', async () => {
    const dbcFile = path.join(folder, 'gnss.dbc')
    const message = `BO_ ${0x80000000 + 0x19F805FE} Gnss: 43 X\n SG_ altitude : 192|64@1- (1,0) [0|0] "" X`
    writeFileSync(dbcFile, `${message}\nBA_ "ProtocolType" "NMEA2000";`)
    const bytes = Array.from({ length: 43 }, (_, i) => i === 24 ? '07' : '00').join(',')
    writeFileSync(logFile, `2016-02-28T19:57:02.364Z,3,129029,7,255,43,${bytes}\n`)
    const recording = recorder()
    openCandumpPlayer({ name: 'boat', logFile, dbcFile, speed: 0, times: 'log' }, recording)
    expect(await recording.ended).to.equal(undefined)
    expect(recording.batches.map(batch => batch.toObjects())).to.deep.equal([[{ time: 1456689422364000000n, address: 7, altitude: 7n }]])
  })

  it('of Yacht Devices RAW are played with long messages put together', async () => {
    const dbcFile = path.join(folder, 'log.dbc')
    const signals = ' SG_ log : 48|32@1+ (1,0) [0|0] "" X\n SG_ trip : 80|32@1+ (1,0) [0|0] "" X'
    writeFileSync(dbcFile, `BO_ ${0x80000000 + 0x19F513FE} DistanceLog: 14 X\n${signals}\nBA_ "ProtocolType" "NMEA2000";`)
    writeFileSync(logFile, ['00 0E FF FF FF FF FF FF', '01 2F 30 70 00 2F 30 70', '02 00']
      .map((data, i) => `17:33:21.10${i} R 19F51323 ${data}\n`).join(''))
    const recording = recorder()
    openCandumpPlayer({ name: 'boat', logFile, dbcFile, speed: 0, times: 'now' }, recording)
    expect(await recording.ended).to.equal(undefined)
    expect(recording.batches.flatMap(batch => batch.toObjects()).map(({ time: _time, ...row }) => row))
      .to.deep.equal([{ address: 0x23, log: 0x70302F, trip: 0x70302F }])
  })

  for (const [format, start] of Object.entries(NOT_FRAMES)) {
    it(`are refused in ${format}, with what is read instead`, async () => {
      writeFileSync(logFile, Buffer.from(`${start}${'\u0000'.repeat(100)}`, 'latin1'))
      const error = await logEntries(logFile).next().then(() => undefined, reason => reason)
      expect(error).to.have.property('code', 'SLUICE_CAN_LOG_FORMAT')
      expect(error.message).to.match(new RegExp(`bus\\.log is .*${format}.*, which is not read\\. .*candump, Vector ASC, PCAN TRC`))
    })
  }

  it('never make the reader throw, whatever their lines', () => {
    const word = fc.constantFrom(
      '1', '1)', '0.5', '1.5e9', '100', '18EBFF00x', 'Rx', 'Tx', 'd', 'r', '8', '64', '00', 'FF', 'CANFD', 'ErrorFrame', 'RTR', 'DT', 'FB',
      'ST', '-', '0704', 'date', 'base', 'dec', 'timestamps', 'relative', 'Wed Apr 16 09:21:13.159 am 2014', ';$FILEVERSION=2.1',
      ';$FILEVERSION=1.1', ';$COLUMNS=N,D', ';$COLUMNS=D', ';$STARTTIME=999999.9', 'A173321.107', '23FF7', '1F513',
      '17:33:21.107 R 19F51323', '!PDGY,129029,3,2',
      '2016-02-28T19:57:02.364Z,2,127250,7,255,8,ff', '9999-99-99T99:99:99Z,7,262143,255,255,999', ',ff'
    )
    const line = fc.array(fc.oneof({ weight: 9, arbitrary: word }, fc.string()), { maxLength: 12 }).map(words => words.join(' '))
    fc.assert(fc.property(fc.array(line, { maxLength: 8 }), lines => {
      const log = new LogLines()
      for (const text of lines) {
        const frame = log.parse(text)
        if (frame === null || 'reason' in frame) continue
        expect(frame.data.length).to.be.at.most(1785)
        expect(Number.isInteger(frame.id)).to.equal(true)
      }
    }), { numRuns: 5000 })
  })
})

describe('databases that are not DBC files', () => {
  it('are refused by their names', async () => {
    const { readDbcFile } = await import('../../gateway/can/dbc/file.js')
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-databases-'))
    const file = path.join(folder, 'bus')
    for (const [text, name] of [
      ['<?xml version="1.0"?>\n<AUTOSAR xmlns="http://autosar.org/schema/r4.0">', 'an AUTOSAR ARXML file'],
      ['<NetworkDefinition xmlns="http://kayak.2codeornot2code.org/1.0">', 'a KCD database'],
      ['FormatVersion=6.0 // Do not edit this line!\nTitle="bus"', 'a PCAN symbol file \\(SYM\\)'],
      ['<?xml version="1.0"?>\n<other/>', 'an XML file']
    ]) {
      writeFileSync(file, text)
      expect(() => readDbcFile(file), name).to.throw(new RegExp(`bus is ${name}; only DBC files are read\\.`))
        .with.property('code', 'SLUICE_DBC_FORMAT')
    }
    rmSync(folder, { recursive: true })
  })
})
