/**
 * What a study is: experiments of a paper, measured again. A study is cut into cells (one database, one batch size, …), which are measured
 * one after the other and written down as they end; its report is made of what was written down, and of nothing else.
 *
 * @typedef {object} Study
 * @property {string} id  a word, such as `arnst`: of the command, of the folder of its reports
 * @property {string} title
 * @property {string} paper  authors, title, where and when it was published
 * @property {(options: StudyOptions) => Plan} plan
 * @property {(cell: Cell, servers: import('../servers.js').Servers) => Promise<string|null>} missing  why a cell cannot be measured here
 * @property {(cell: Cell, context: CellContext) => Promise<Measured>} measure  rejects where the cell cannot be measured; others go on
 * @property {(result: StudyResult) => Section[]} report
 * @property {(result: StudyResult) => Record<string, string>} [files]  more files beside the report: texts by their names
 * @property {(text: string) => Record<string, any>} [sweepOf]  what a configuration in the paper's own form chooses
 *
 * @typedef {object} StudyOptions
 * @property {boolean} isFull  the sizes and durations of the paper, otherwise a budget of minutes
 * @property {Record<string, any>} sweep  what the user chose instead of the study's own: databases, batchSizes, writers, sensors, seconds,
 *   rows, warmUpSeconds, repetitions; what is not there is the study's
 *
 * @typedef {object} Plan
 * @property {Cell[]} cells  in the order in which they are measured: one database at a time
 * @property {string[]} cut  what is less than in the paper, a sentence each
 *
 * @typedef {object} Cell
 * @property {string} id  unique in the study, the same in every run of these options, so that a run can be resumed
 * @property {string} label
 * @property {Record<string, string|number>} parameters  `database` is the type of its sink
 * @property {number} seconds  that it takes, about
 *
 * @typedef {object} CellContext
 * @property {import('../servers.js').Servers} servers
 * @property {string} folder  empty, of the cell's own, removed afterwards
 * @property {<T extends {remove: () => Promise<void>}>(open: (folder: string) => Promise<T>) => Promise<T>} shared  what all cells of one
 *   database use, such as its server: opened by the first, with an empty folder, removed when the next database's turn has come
 * @property {<T>(work: () => Promise<T>) => Promise<T>} outside  work that is not limited, where anything is; servers are started so by
 *   themselves
 * @property {AbortSignal} signal  the user has stopped the study
 * @property {(text: string, secondsLeft?: number) => void} progress  `secondsLeft`: of the cell, where it knows better than before
 *
 * @typedef {object} Measured
 * @property {Record<string, number>} measures  by name, its unit at the end of the name (`rowsPerSecond`, `cpuPercent`, `rssBytes`); what
 *   could not be measured is absent
 * @property {Record<string, number[]>} [samples]  single values, such as the latency of each batch, likewise
 * @property {Record<string, {seconds: number[], values: number[]}>} [series]  over time, likewise
 * @property {string} [version]  of the database: "PostgreSQL 15.18"
 * @property {string} [settings]  of the database, as it tells them
 * @property {string[]} [notes]  what a reader has to know of this cell
 * @property {boolean} [isPartial]  it was stopped, and this is what had been found by then
 *
 * @typedef {Measured & {id: string, label: string, parameters: Record<string, string|number>, state: 'done', startedMs: number,
 *   tookSeconds: number}} DoneCell
 * @typedef {{id: string, label: string, parameters: Record<string, string|number>, state: 'failed'|'absent', reason: string}} OtherCell
 *   `absent`: there is no such server here
 *
 * @typedef {object} StudyResult  `result.json` of a report
 * @property {1} version
 * @property {string} study  its id
 * @property {string} title
 * @property {string} paper
 * @property {number} startedMs  since 1970
 * @property {number} endedMs
 * @property {boolean} isComplete  false: it was stopped, or goes on
 * @property {string} limited  how the gateway or the servers were held back to be like a small machine; empty: not at all
 * @property {Record<string, string>} environment  processor, cores, memory, disk, system, versions, commit, by what a reader calls them
 * @property {StudyOptions} options
 * @property {string[]} cut
 * @property {(DoneCell|OtherCell)[]} cells
 *
 * What a report is made of. Renderers (a page, Markdown) know these and no study.
 * @typedef {object} Section
 * @property {string} title
 * @property {string[]} [text]  paragraphs
 * @property {Block[]} blocks
 *
 * @typedef {TableBlock|BarsBlock|BoxesBlock|LinesBlock} Block
 *
 * A figure that the paper has stands beside ours; `null` is one that is not there, and says why where there is a reason.
 * @typedef {{value: number|string|null, published?: number|string|null, reason?: string}} Figure
 * @typedef {object} TableBlock
 * @property {'table'} kind
 * @property {string} caption  with the number that it has in the paper
 * @property {string} [heading]  of the labels
 * @property {{title: string, unit?: string, digits?: number}[]} columns  of the figures; `digits` behind the point
 * @property {{label: string, figures: Figure[], isContinued?: boolean}[]} rows  `isContinued`: it belongs to the one above
 * @property {string[]} [notes]  what differs from the paper, contradictions in it
 *
 * @typedef {object} BarsBlock
 * @property {'bars'} kind
 * @property {string} caption
 * @property {string} unit
 * @property {number} [reports]  so many series in a row are the same one in different reports
 * @property {boolean} [isLog]
 * @property {string[]} series  one colour each
 * @property {{label: string, figures: Figure[]}[]} groups  a figure for each series
 * @property {string[]} [notes]
 *
 * @typedef {{min: number, lower: number, median: number, upper: number, max: number, mean: number, count: number}} Box  quartiles
 * @typedef {object} BoxesBlock
 * @property {'boxes'} kind
 * @property {string} caption
 * @property {string} unit
 * @property {number} [reports]  so many series in a row are the same one in different reports
 * @property {boolean} [isLog]
 * @property {string[]} series
 * @property {{label: string, boxes: (Box|null)[], published?: (number|null)[]}[]} groups  a box for each series; medians or means of the
 *   paper
 * @property {string[]} [notes]
 *
 * @typedef {object} LinesBlock
 * @property {'lines'} kind
 * @property {string} caption
 * @property {string} unit
 * @property {number} [reports]  so many series in a row are the same one in different reports
 * @property {string} xTitle  with its unit
 * @property {boolean} [isLogX]
 * @property {boolean} [isTimeX]  in seconds: the axis is marked in minutes and hours
 * @property {boolean} [isLog]
 * @property {{label: string, x: number[], y: number[], isPublished?: boolean, series?: number}[]} lines
 *   the paper's has the colour of ours with the same label, or of the series that is given
 * @property {string[]} [notes]
 */
export {}
