/**
 * What the paper prints of its variants (Arnst, Plenk, Wöltche, tables III to V): processor time in percent of a core, memory in
 * thousands of kB, what the database reads and writes in kB/s, network in kbit/s, growth of the data folder in MB.
 *
 * @typedef {Required<import('./score.js').Costs>} WriteCosts
 * @typedef {Omit<WriteCosts, 'disk'>} ReadCosts
 * @typedef {{label: string, score: number}} Variant
 */

/** @param {string} label @param {number[]} figures @returns {Variant & WriteCosts} */
function writer (label, [serverCpu, serverMemory, serverIo, clientCpu, clientMemory, network, disk, difficulty, score]) {
  return { label, serverCpu, serverMemory, serverIo, clientCpu, clientMemory, network, disk, difficulty, score }
}

/** @param {string} label @param {number[]} figures @returns {Variant & ReadCosts} */
function reader (label, [serverCpu, serverMemory, serverIo, clientCpu, clientMemory, network, difficulty, score]) {
  return { label, serverCpu, serverMemory, serverIo, clientCpu, clientMemory, network, difficulty, score }
}

export const WRITERS = Object.freeze({
  'mysql-individual': writer('MariaDB individual', [5, 170.835, 1840, 9.4, 2.096, 715, 88, 5, 15]),
  'mysql-bulk': writer('MariaDB bulk', [1, 160.834, 417, 6.5, 2.232, 395, 32, 5, 59]),
  'mongodb-individual': writer('MongoDB individual', [1, 257.166, 71, 13.9, 3.561, 710, 58, 4, 35]),
  'mongodb-bulk': writer('MongoDB bulk', [1, 137.701, 56, 8.9, 3.607, 617, 15, 4, 54]),
  influxdb: writer('InfluxDB', [5, 147.444, 37, 11.7, 0.284, 785, 5, 1, 39])
})

export const READERS = Object.freeze({
  'mysql-individual': reader('MariaDB individual', [7, 208.896, 46.9, 0.4, 4.427, 1025, 4, 71]),
  'mysql-bulk': reader('MariaDB bulk', [0, 154.544, 5.2, 0.6, 3.979, 3520, 5, 83]),
  'mongodb-individual': reader('MongoDB individual', [87, 188.737, 3.5, 1.4, 5.487, 6750, 3, 50]),
  'mongodb-bulk': reader('MongoDB bulk', [11, 121.252, 1.6, 15.9, 2.564, 3520, 3, 60]),
  'influxdb-individual': reader('InfluxDB individual', [8, 40.605, 0.9, 1.3, 1.533, 530, 3, 93]),
  'influxdb-bulk': reader('InfluxDB bulk', [12, 37.272, 1.1, 7, 1.556, 1898, 4, 80]),
  'influxdb-bulk-1': reader('InfluxDB bulk-1', [7, 26.97, 1.2, 3.4, 28.979, 1025, 4, 82])
})

/** Of reading with writing, by the readers above. */
export const TOTALS = Object.freeze({ scores: [43, 71, 43, 57, 66, 60, 61], ranks: [6, 1, 7, 5, 2, 4, 3] })

/** How fast the machine makes samples, and a user asks for cycles. */
export const PACE = Object.freeze({ samplesPerSecond: 1000, cyclesPerSecond: 3 })

/** What a reader of the paper has to know. */
export const CONTRADICTIONS = Object.freeze([
  'The published scores of reading leave the difficulty out of the printed formula, but divide by the sum of all weights: both are given.',
  'The text says 75 % where Table III says 71 %.',
  'Figures 4 and 5 are bars in percent of the highest value.'
])
