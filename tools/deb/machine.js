import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { aptOptions, mirrors } from '../debian.js'
import { run } from '../run.js'

/** Makes a Debian of its own out of a folder and starts systemd in it, as the first process of namespaces of its own. */
const BOOT = `
set -e
mount --bind "$ROOT" "$ROOT"
cd "$ROOT"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
for device in null zero full random urandom tty; do cp -a "/dev/$device" dev; done
ip link set lo up
pivot_root . .
umount -l .
mount --make-rshared /
exec env -i container=sluice PATH=/usr/sbin:/usr/bin /usr/lib/systemd/systemd
`
/** systemd wants a cgroup for itself, and its namespace begins where a process is. */
const ENTER = `
echo 0 > "$CGROUP/cgroup.procs"
exec unshare --cgroup sh -c "$BOOT"
`
const PATIENCE_MS = 300_000

/** A Debian with systemd that runs beside this one, without a network. It needs root. */
export class Machine {
  #root
  #cgroup
  /** @type {import('node:child_process').ChildProcess|undefined} */
  #process
  #init = 0

  /** @param {string} folder  where it is built */
  constructor (folder) {
    this.#root = join(folder, 'root')
    this.#cgroup = join(cgroupFolder(), `sluice-${process.pid}`)
  }

  /**
   * @param {string} suite  of Debian
   * @param {readonly string[]} packages  paths of packages that will be installed, whose dependencies it fetches for that
   */
  build (suite, packages) {
    run('mmdebstrap', [
      '--variant=minbase', '--include=dbus,procps,systemd-sysv', ...aptOptions(),
      suite, this.#root, ...mirrors(suite)
    ])
    copyFileSync('/etc/resolv.conf', join(this.#root, 'etc/resolv.conf'))
    for (const path of packages) copyFileSync(path, join(this.#root, 'root', basename(path)))
    const names = packages.map(path => `/root/${basename(path)}`)
    run('chroot', [this.#root, 'apt-get', 'update', '-q'])
    for (const name of names) run('chroot', [this.#root, 'apt-get', 'install', '-qy', '--download-only', name])
  }

  async boot () {
    mkdirSync(this.#cgroup)
    const namespaces = ['--fork', '--kill-child', '--pid', '--mount', '--uts', '--ipc', '--net']
    // It ends with this process, however that ends.
    this.#process = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', ...namespaces, 'sh', '-c', ENTER], {
      env: { ...process.env, BOOT, ROOT: this.#root, CGROUP: this.#cgroup }, stdio: ['ignore', 'ignore', 'inherit']
    })
    const unshare = this.#process.pid
    while (!this.#init) {
      if (this.#process.exitCode !== null) throw new Error(`The machine did not start: ${this.#process.exitCode}.`)
      this.#init = Number(readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8'))
      await sleep(50)
    }
    await this.until('systemctl is-system-running', text => /running|degraded/.test(text))
  }

  /** What a command of a shell in it says, and how it ends. @param {string} command */
  try (command) {
    const args = [`--target=${this.#init}`, '--all', '--root', '--wd', 'sh', '-c', command]
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' }
    const { status, stdout, stderr } = spawnSync('nsenter', args, { encoding: 'utf8', env })
    return { status, text: (stdout + stderr).trim() }
  }

  /** What a command that must succeed says. @param {string} command */
  run (command) {
    const { status, text } = this.try(command)
    if (status !== 0) throw new Error(`${command} ended with ${status}:\n${text}`)
    return text
  }

  /** Waits until a command says what is expected. @param {string} command @param {(text: string) => boolean} isExpected */
  async until (command, isExpected) {
    const started = performance.now()
    while (true) {
      const { text } = this.try(command)
      if (isExpected(text)) return text
      if (performance.now() - started > PATIENCE_MS) throw new Error(`${command} still says: ${text}`)
      await sleep(200)
    }
  }

  async stop () {
    if (this.#process?.exitCode === null) {
      this.#process.kill('SIGKILL') // and with it all of its namespaces
      await once(this.#process, 'exit')
    }
    while (existsSync(this.#cgroup)) {
      removeCgroup(this.#cgroup)
      await sleep(50)
    }
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** Where the second version of cgroups is. */
function cgroupFolder () {
  const mounted = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8'))
  if (!mounted) throw new Error('This machine has no cgroup 2.')
  return mounted[1]
}

/** From its leaves; one whose processes have not quite ended stays. @param {string} folder */
function removeCgroup (folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeCgroup(join(folder, entry.name))
  try {
    rmdirSync(folder)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EBUSY') throw error
  }
}
