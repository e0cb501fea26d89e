/**
 * The options of a source that plays a recording.
 * @param {string} recording  its name in texts
 * @param {string} recorded  the value of `times` for its own times
 */
export function playProperties (recording, recorded) {
  return {
    speed: {
      type: 'number',
      title: 'Speed',
      description: '1 plays as recorded, 10 ten times as fast, 0 as fast as possible.',
      minimum: 0,
      maximum: 100000,
      default: 1,
      'x-unit': '×'
    },
    times: {
      type: 'string',
      title: 'Times',
      description: `Those of the ${recording}, which every round of a loop repeats; or shifted to now, where every round continues ` +
        `the last. Shifted and as fast as possible, they keep the distances of the ${recording} and run ahead of the clock.`,
      enum: ['now', recorded],
      'x-labels': { now: 'Shifted to now', [recorded]: `Those of the ${recording}` },
      default: 'now'
    },
    loop: {
      type: 'boolean',
      title: 'Loop',
      description: `Start again at the end of the ${recording}.`,
      default: false
    }
  }
}
