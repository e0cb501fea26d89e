/**
 * The costs as columns of Tables IV and V, and as groups of Figures 4 and 5.
 *
 * @type {{cost: import('./score.js').Cost, title: string, unit?: string, digits: number}[]}
 */
export const COSTS = [
  { cost: 'serverCpu', title: 'CPU, server', unit: '% of a core', digits: 1 },
  { cost: 'serverMemory', title: 'Memory, server', unit: '1000 kB', digits: 1 },
  { cost: 'serverIo', title: 'IO, server', unit: 'kB/s', digits: 1 },
  { cost: 'clientCpu', title: 'CPU, client', unit: '% of a core', digits: 1 },
  { cost: 'clientMemory', title: 'Memory, client', unit: '1000 kB', digits: 1 },
  { cost: 'network', title: 'Network', unit: 'kbit/s', digits: 0 },
  { cost: 'disk', title: 'Disk', unit: 'MB in 20 min', digits: 0 },
  { cost: 'difficulty', title: 'Difficulty', digits: 0 }
]

/** Those that the paper has of writers or of readers. @param {Record<string, import('./score.js').Costs>} paper */
export function columnsOf (paper) {
  const [first] = Object.values(paper)
  return COSTS.filter(({ cost }) => cost in first)
}
