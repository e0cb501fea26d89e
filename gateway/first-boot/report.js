/**
 * What somebody without a screen is told.
 *
 * @typedef {object} Report
 * @property {{url: string, fingerprint: string}} editor
 * @property {string[]} set  what is set up
 * @property {string[]} problems
 */

/** For the boot partition: no secrets. @param {Report} report */
export function reportText ({ editor, set, problems }) {
  return `What sluice first-boot has made of sluice.toml. It runs at each start.

Editor: ${editor.url}
SHA-256 fingerprint of its certificate:
${editor.fingerprint}

${problems.length > 0 ? list('Problems; what they concern is as it was:', problems) : 'No problems.\n'}
${list('Set up:', set)}`
}

/** For the screen, in which the random password is, as long as it holds. @param {Report} report @param {string|null} password */
export function screenText ({ editor, problems }, password) {
  return `Sluice: ${editor.url}
${password === null ? '' : `User admin, password ${password}\n`}SHA-256 fingerprint of the certificate:
${editor.fingerprint}
${problems.length > 0 ? list('Problems:', problems) : ''}`
}

/** @param {string} title @param {string[]} lines */
function list (title, lines) {
  return `${[title, ...lines.map(line => `  - ${line}`)].join('\n')}\n`
}
