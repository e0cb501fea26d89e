/**
 * Lets the environment say what the command line does not: `SLUICE_PORT` for `--port`, and so on for every option with a value. So a
 * service and a container get theirs. A variable that is empty says nothing: it is a line of a file of settings that was not filled in.
 * @template {import('node:util').ParseArgsOptionsConfig} T
 * @param {T} options  as of parseArgs
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {T}  the same, with what the environment says as defaults
 */
export function withEnvironment (options, environment = process.env) {
  return /** @type {T} */ (Object.fromEntries(Object.entries(options).map(([name, option]) => {
    const value = option.type === 'string' ? environment[variableOf(name)]?.trim() : undefined
    if (!value) return [name, option]
    return [name, { ...option, default: option.multiple ? value.split(/\s+/) : value }]
  })))
}

/** @param {string} option */
function variableOf (option) {
  return `SLUICE_${option.replaceAll('-', '_').toUpperCase()}`
}
