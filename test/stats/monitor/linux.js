/** Skips the running suite, with the reason printed, where there is no Linux to watch. @param {Mocha.Context} context */
export function requireLinux (context) {
  if (process.platform === 'linux') return
  console.log(`      skipped: this is ${process.platform}, not Linux`)
  context.skip()
}
