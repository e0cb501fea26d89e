/*
 * An epoch is named `<counter>-<mark of its spool><random>`: see docs/protocol.md.
 */

/** Later epochs of a spool have greater ones. @param {string} epoch */
export function counterOf (epoch) { return parseInt(epoch, 10) }

/** What all epochs of a spool have in common, and those of another mostly not. @param {string} epoch */
export function markOf (epoch) { return epoch.slice(epoch.indexOf('-') + 1).slice(0, 4) }
