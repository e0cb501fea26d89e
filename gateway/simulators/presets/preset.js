/**
 * The contract of a preset, which the simulator can simulate: its options, and a generator of samples by them.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 *
 * @typedef {object} Preset
 * @property {string} label
 * @property {string} text  a sentence or two about it, with its source
 * @property {Record<string, object>} properties  its own options
 * @property {(options: any, startNs: bigint) => Generator} open
 *
 * @typedef {object} Generator  endless samples, each at a time of its own; they come in order
 * @property {number} rows  of one sample: how many machines there are
 * @property {number} maxAtOnce  samples that make a batch as large as a batch should be
 * @property {(ns: bigint) => number} dueAt  how many of the samples to come have their time at or before this one
 * @property {(count: number) => Batch[]} take  the next samples, at most `maxAtOnce`: a batch per machine
 * @property {(count: number) => void} skip  leaves out the next samples; their times pass
 */

export {}
