/** How long rows are kept: an option of every sink that stores any. */
export const retentionProperties = {
  keepDays: {
    type: 'number',
    title: 'Keep for',
    description: 'Rows whose time is longer ago are removed, some at a time, so that a disk never fills; 0.5 is twelve hours. They go ' +
      'at the latest a twentieth of that time later. Rows that arrive too old are stored, and removed. 0 keeps all for ever.',
    minimum: 0,
    maximum: 36_500,
    default: 0,
    'x-unit': 'days'
  }
}
