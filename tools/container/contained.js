import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/**
 * What a container is, by the means of the kernel: a root folder that cannot be written to, process 1 of its own, a user without
 * capabilities, and no file to write but those of the volume.
 */
const ENTER = `
set -e
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount --bind "$DATA" "$ROOT/data"
mount --bind "$SECRETS" "$ROOT/mnt"
mount -t proc proc "$ROOT/proc"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/dev"
for device in null zero random urandom; do touch "$ROOT/dev/$device"; mount --bind "/dev/$device" "$ROOT/dev/$device"; done
cd "$ROOT"
exec chroot "$ROOT" setpriv --reuid="$OWNER" --regid="$OWNER" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs -- \
  /bin/sh -c 'cd "$0" && exec env -i "$@"' "$PLACE" "$@"`

/**
 * Runs the program of an image as a container without a container engine: it takes root, and Linux. The network is the machine's.
 * @param {object} container
 * @param {string} container.root  the image's files
 * @param {import('./engine.js').Config} container.config  of the image
 * @param {string} container.data  its volume
 * @param {string} container.secrets  a folder, which it has as /mnt
 * @param {number} container.user
 * @param {string[]} container.args  added to the image's own
 */
export function contain ({ root, config, data, secrets, user, args }) {
  const { Env, Entrypoint, Cmd, WorkingDir } = config
  const env = { PATH: process.env.PATH, ROOT: root, DATA: data, SECRETS: secrets, OWNER: String(user), PLACE: WorkingDir }
  const isolated = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', ENTER, 'enter']
  const child = spawn('unshare', [...isolated, ...Env, ...Entrypoint, ...Cmd, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { output += text })
  const exit = once(child, 'close').then(([code]) => ({ code, output }))
  /** Process 1 of the container. */
  const first = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
  return {
    exit,
    first,
    /** @param {NodeJS.Signals} signal */
    signal: signal => { process.kill(first(), signal) },
    kill: () => { child.kill('SIGKILL') }
  }
}
