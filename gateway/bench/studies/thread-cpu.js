/** µs of this thread's processor time; 0 where Node cannot tell. */
export function cpuMicros () {
  const { threadCpuUsage } = /** @type {any} */ (process)
  if (!threadCpuUsage) return 0
  const { user, system } = threadCpuUsage.call(process)
  return user + system
}
