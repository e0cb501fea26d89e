import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firstBoot } from '../../gateway/first-boot/first-boot.js'
import { isPasswordOf, readUsers } from '../../gateway/web/users.js'

/** What an image has before it starts for the first time. */
const IMAGE = {
  'root/etc/hostname': 'sluice\n',
  'root/etc/hosts': '127.0.0.1\tlocalhost\n127.0.1.1\tsluice\n',
  'root/etc/default/raspi-firmware': 'ROOTPART=LABEL=root\nCONSOLES="ttyS1,115200 tty0"\n',
  'boot/config.txt': 'arm_64bit=1\n',
  'boot/cmdline.txt': 'console=tty0 console=ttyS1,115200 root=LABEL=root rw\n'
}

/** A machine made of two folders. The programs that would change it are only noted. */
export class Machine {
  /** @type {string[]} */
  commands = []

  /** @param {string} folder */
  constructor (folder) {
    this.folder = folder
    this.userDir = join(folder, 'root/var/lib/sluice')
  }

  /** @param {string} [settings]  its sluice.toml */
  static async make (settings) {
    const machine = new Machine(await mkdtemp(join(tmpdir(), 'sluice-machine-')))
    for (const [path, text] of Object.entries(IMAGE)) await machine.write(path, text)
    if (settings !== undefined) await machine.write('boot/sluice.toml', settings)
    return machine
  }

  /** Starts it: gives what first-boot says, and the commands. */
  async start () {
    this.commands = []
    return firstBoot({
      root: join(this.folder, 'root'),
      boot: join(this.folder, 'boot'),
      run: async (...command) => { this.commands.push(command.join(' ').replaceAll(this.folder, '')) }
    })
  }

  /** @param {string} path @param {string} text */
  async write (path, text) {
    await mkdir(dirname(join(this.folder, path)), { recursive: true })
    await writeFile(join(this.folder, path), text)
  }

  /** Null where there is no such file. @param {string} path */
  read (path) {
    return readFile(join(this.folder, path), 'utf8').catch(() => null)
  }

  /** Of every file, its content and when it was written. @returns {Promise<Record<string, string>>} */
  async files () {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true })
    const paths = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)).sort()
    return Object.fromEntries(await Promise.all(paths.map(async path => {
      return [path.slice(this.folder.length + 1), `${(await stat(path)).mtimeMs} ${await readFile(path, 'utf8')}`]
    })))
  }

  /** That of sluice-password.txt; empty where there is none. */
  async randomPassword () {
    return /^Password: (.*)$/m.exec(await this.read('boot/sluice-password.txt') ?? '')?.[1] ?? ''
  }

  /** Whether the editor lets in with it. @param {string} password */
  letsIn (password) {
    return isPasswordOf(password, readUsers(this.userDir).get('admin'))
  }

  remove () {
    return rm(this.folder, { recursive: true })
  }
}
