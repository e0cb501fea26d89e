import { derive, fractionAt } from '../../base/random.js'
import { Samples } from '../samples.js'
import { trouble } from './properties.js'

/**
 * @typedef {import('../waveforms.js').Channel} Channel
 * @typedef {import('./preset.js').Generator} Generator
 */

/** The study's rate. */
const BASE_RATE_HZ = 10

/**
 * The 22 channels on the CAN bus of a car, in the study's order, after "Ingesting 300k datapoints per second in the Warp 10 time series
 * database on a Raspberry Pi" (SenX). Nine names, and what the values are like, are from its excerpts, where wheel torque, gear, torque and
 * power are whole numbers; the other channels are named after what their values there could be. They change on their own, in every vehicle
 * a little faster or slower: their curves are not physics.
 * @type {Channel[]}
 */
const CHANNELS = [
  whole('wheeltorque', 220, 210, 0.05, 5, 'Nm'),
  channel('intakeairtemp', 37, 3, 0.003, 0, '°C'),
  { ...channel('tripdistance', 500, 500, 0.00003, 0, 'km'), shape: 'sawtooth' },
  channel('wheelspeedfrontleft', 830, 120, 0.02, 2, 'rpm'),
  channel('wheelspeedfrontright', 827, 120, 0.02, 2, 'rpm'),
  channel('engineoiltemp', 92, 2, 0.001, 0, '°C'),
  channel('yawrate', 0, 12, 0.1, 0.5, '°/s'),
  channel('wheelspeedrearleft', 823, 120, 0.02, 2, 'rpm'),
  whole('gear', 3.5, 1.5, 0.01, 0, ''),
  channel('gammalongitudinal', 0, 0.1, 0.05, 0.01, 'g'),
  channel('speed', 102, 15, 0.02, 0.1, 'km/h'),
  whole('torque', 78, 65, 0.05, 2, 'Nm'),
  channel('externaltemp', 15, 1, 0.0001, 0, '°C'),
  channel('enginerpm', 4800, 150, 0.05, 10, 'rpm'),
  channel('boostpressure', 0.8, 0.2, 0.05, 0.02, 'bar'),
  channel('gammatransversal', 0, 0.6, 0.1, 0.03, 'g'),
  channel('wheelspeedrearright', 810, 120, 0.02, 2, 'rpm'),
  { ...channel('brakepressure', 0, 20, 0.03, 0, 'bar'), limits: [0, 200] },
  channel('coolanttemp', 86, 2, 0.001, 0, '°C'),
  channel('cabintemp', 23, 1, 0.0005, 0, '°C'),
  { ...channel('throttlepedal', 32, 31, 0.05, 1, '%'), limits: [0, 100] },
  { ...whole('power', 75, 70, 0.05, 1, 'hp'), limits: [0, 200] }
]

/**
 * Where the car was: it belongs to the point that the other values are measured at, and is no channel.
 * @type {Channel[]}
 */
const POSITION = [
  channel('latitude', 47.363, 0.01, 0.001, 0, '°'),
  channel('longitude', 4.899, 0.01, 0.0005, 0, '°'),
  channel('elevation', 214.7, 40, 0.002, 0.1, 'm')
]

/** @type {import('./preset.js').Preset} */
export const warp10 = {
  label: 'Vehicles (Warp 10)',
  text: 'The vehicles have a position and 22 channels, as in the study of Warp 10.',
  properties: {
    vehicles: {
      type: 'integer',
      title: 'Vehicles',
      description: 'Each has the tag "vehicle", from 1 on, and its own batches.',
      minimum: 1,
      maximum: 1000,
      default: 1
    },
    multiple: {
      type: 'number',
      title: 'Speed',
      description: 'Multiple of the 10 samples a second that the study has. Its log is 57,841 samples long.',
      minimum: 0.01,
      maximum: 10_000,
      default: 1,
      'x-unit': '×'
    },
    ...trouble
  },
  open: (options, startNs) => {
    const { name, vehicles, multiple, seed } = options
    const all = [...POSITION, ...CHANNELS]
    return new Fleet(Array.from({ length: vehicles }, (_, index) => new Samples({
      source: name,
      channels: all.map(each => ({ ...each, frequencyHz: each.frequencyHz * (0.9 + 0.2 * fractionAt(seed, index)) })),
      sampleRateHz: BASE_RATE_HZ * multiple,
      seed: derive(seed, index),
      startNs,
      trouble: options,
      tags: { vehicle: String(index + 1) }
    })))
  }
}

/**
 * Machines that are sampled at the same times.
 * @implements {Generator}
 */
class Fleet {
  #machines

  /** @param {Samples[]} machines */
  constructor (machines) {
    this.#machines = machines
    this.rows = machines.length
    this.maxAtOnce = Math.max(1, Math.floor(machines[0].maxAtOnce / machines.length))
  }

  /** @param {bigint} ns */
  dueAt (ns) {
    return this.#machines[0].dueAt(ns)
  }

  /** @param {number} count */
  take (count) {
    return this.#machines.flatMap(machine => machine.take(count))
  }

  /** @param {number} count */
  skip (count) {
    for (const machine of this.#machines) machine.skip(count)
  }
}

/**
 * @param {string} name
 * @param {number} offset
 * @param {number} amplitude
 * @param {number} frequencyHz
 * @param {number} noise
 * @param {string} unit
 * @returns {Channel}
 */
function channel (name, offset, amplitude, frequencyHz, noise, unit) {
  return { name, shape: 'sine', offset, amplitude, frequencyHz, noise, unit, type: 'float64' }
}

/**
 * @param {Parameters<typeof channel>} parts
 * @returns {Channel}
 */
function whole (...parts) {
  return { ...channel(...parts), type: 'int16' }
}
