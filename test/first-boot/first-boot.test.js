import { X509Certificate } from 'node:crypto'
import { chown, readlink, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { Machine } from './machine.js'

const SETTINGS = `
[system]
host_name = "gateway-7"
time_zone = "Europe/Berlin"
ntp_servers = ["ntp.plant.lan", "10.0.0.1"]
config_txt = ["gpu_mem=16"]

[editor]
names = ["gateway.plant.lan"]

[ssh]
keys = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleExam ada@desk"]

[ethernet]
address = "10.0.0.7/24"
gateway = "10.0.0.1"
dns = ["10.0.0.1", "10.0.0.2"]

[wifi]
ssid = "plant \\"7\\""
password = "password"
country = "DE"

[[can]]
name = "can0"
bit_rate = 250000
data_bit_rate = 2000000
controller = "mcp251xfd"
oscillator_hz = 40000000
listen_only = true

[[can]]
name = "vcan0"
virtual = true

[serial]
console = false
`

describe('The first boot', () => {
  /** @type {Machine[]} */
  const machines = []
  /** @param {string} [settings] */
  async function make (settings) {
    const machine = await Machine.make(settings)
    machines.push(machine)
    return machine
  }
  afterEach(() => Promise.all(machines.splice(0).map(machine => machine.remove())))

  it('makes a certificate for the names of the machine, whose fingerprint is told beside the password', async () => {
    const machine = await make('[editor]\nnames = ["gateway.plant.lan"]\n[ethernet]\naddress = "10.0.0.7/24"\n')
    const { text } = await machine.start()
    const certificate = new X509Certificate(await machine.read('root/opt/sluice/first-boot/tls.crt') ?? '')
    const names = ['sluice', 'sluice.local', 'gateway.plant.lan', 'localhost']
    for (const name of names) expect(certificate.checkHost(name), name).to.equal(name)
    for (const address of ['127.0.0.1', '10.0.0.7']) expect(certificate.checkIP(address), address).to.equal(address)
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).to.equal('prime256v1')
    expect(Number(new Date(certificate.validTo)) - Number(new Date(certificate.validFrom))).to.equal(3650 * 86_400_000)
    expect(text).to.contain(certificate.fingerprint256)
    expect(await machine.read('boot/sluice-password.txt')).to.contain(certificate.fingerprint256)
    expect(await machine.read('boot/sluice-first-boot.txt')).to.contain(certificate.fingerprint256)
    expect(await machine.read('root/opt/sluice/first-boot/sluice.env')).to.contain('SLUICE_ALLOW_HOST=gateway.plant.lan\n')
    const { mode } = await stat(join(machine.folder, 'root/opt/sluice/first-boot/tls.key'))
    expect((mode & 0o777).toString(8)).to.equal('640')
    expect(machine.commands).to.include('chown root:sluice /root/opt/sluice/first-boot/tls.key')
  })

  it('keeps the key where the names change, and makes another certificate', async () => {
    const machine = await make()
    await machine.start()
    const read = () => Promise.all(['key', 'crt'].map(type => machine.read(`root/opt/sluice/first-boot/tls.${type}`)))
    const [key, certificate] = await read()
    await machine.write('boot/sluice.toml', '[system]\nhost_name = "gateway-7"\n')
    await machine.start()
    const [sameKey, other] = await read()
    expect(sameKey).to.equal(key)
    expect(other).to.not.equal(certificate)
    expect(new X509Certificate(other ?? '').checkHost('gateway-7.local')).to.equal('gateway-7.local')
  })

  it('makes nothing that two machines share', async () => {
    const [one, other] = await Promise.all([make(), make()])
    await one.start()
    await other.start()
    const own = ['boot/sluice-password.txt', ...['sluice/gateway-id', 'users.json', 'credential-secret', 'flows_cred.json']
      .map(name => `root/var/lib/sluice/${name}`), ...['tls.key', 'tls.crt', 'mosquitto/gateway.json', 'mosquitto/sluice.passwords']
      .map(name => `root/opt/sluice/first-boot/${name}`)]
    for (const path of own) {
      expect(await one.read(path), path).to.be.a('string')
      expect(await one.read(path), path).to.not.equal(await other.read(path))
    }
  })

  it('sets up what sluice.toml says', async () => {
    const machine = await make(SETTINGS)
    await machine.write('boot/overlays/mcp251xfd-can0.dtbo', '')
    const { text, isRight } = await machine.start()
    expect(isRight, text).to.equal(true)
    const read = async (/** @type {string} */ path) => (await machine.read(path))?.replace(/^# From sluice.toml.*\n/, '')
    expect(await read('root/etc/hostname')).to.equal('gateway-7\n')
    expect(await read('root/etc/hosts')).to.equal('127.0.0.1\tlocalhost\n127.0.1.1\tgateway-7\n')
    expect(await readlink(join(machine.folder, 'root/etc/localtime'))).to.equal('/usr/share/zoneinfo/Europe/Berlin')
    expect(await read('root/etc/systemd/timesyncd.conf.d/sluice.conf')).to.equal('[Time]\nNTP=ntp.plant.lan 10.0.0.1\n')
    expect(await read('root/etc/ssh/sluice-keys')).to.match(/^ssh-ed25519 .* ada@desk\n$/)
    expect(await read('root/etc/ssh/sshd_config.d/sluice.conf')).to.contain('.ssh/authorized_keys /etc/ssh/sluice-keys\n')
    const network = (/** @type {string} */ name) => read(`root/etc/systemd/network/50-sluice-${name}`)
    expect(await network('ethernet.network')).to.equal('[Match]\nType=ether\nKind=!*\n\n[Network]\n' +
      'Address=10.0.0.7/24\nGateway=10.0.0.1\nDNS=10.0.0.1\nDNS=10.0.0.2\n')
    expect(await network('wifi.network')).to.equal('[Match]\nName=wlan0\n\n[Network]\nDHCP=yes\n')
    expect(await network('can-can0.network')).to.equal('[Match]\nName=can0\n\n[Link]\nRequiredForOnline=no\n\n[CAN]\n' +
      'BitRate=250000\nDataBitRate=2000000\nFDMode=yes\nRestartSec=100ms\nListenOnly=yes\nLoopback=no\n')
    expect(await network('can-can0.link')).to.equal('[Match]\nOriginalName=can0\n\n[Link]\nTransmitQueueLength=1000\n')
    expect(await network('can-vcan0.netdev')).to.equal('[NetDev]\nName=vcan0\nKind=vcan\n')
    expect(await network('can-vcan0.network')).to.equal('[Match]\nName=vcan0\n\n[Link]\nRequiredForOnline=no\n')
    expect(await read('boot/config.txt')).to.equal('arm_64bit=1\n\n' +
      '# sluice.toml begins: what is changed here is undone at the next start.\n' +
      '[all]\ngpu_mem=16\ndtoverlay=mcp251xfd-can0,oscillator=40000000,interrupt=25\n# sluice.toml ends.\n')
    expect(await read('boot/cmdline.txt')).to.equal('console=tty0 root=LABEL=root rw\n')
    expect(await read('root/etc/default/raspi-firmware')).to.equal('ROOTPART=LABEL=root\nCONSOLES="tty0"\n')
    expect(machine.commands.filter(command => !command.startsWith('chown '))).to.deep.equal([
      'hostname gateway-7',
      'systemctl enable --now --no-block wpa_supplicant@wlan0.service',
      'udevadm control --reload',
      'udevadm trigger --action=add --subsystem-match=net',
      'systemctl --no-block reboot'
    ])
  })

  it('hashes the password of a Wi-Fi as wpa_passphrase does, for root only', async () => {
    const machine = await make('[wifi]\nssid = "IEEE"\npassword = "password"\ncountry = "DE"\n')
    await machine.start()
    const path = 'root/etc/wpa_supplicant/wpa_supplicant-wlan0.conf'
    // IEEE 802.11, Annex J.4.2, first test vector
    expect(await machine.read(path)).to.contain('  ssid=49454545\n  key_mgmt=WPA-PSK\n' +
      '  psk=f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e\n').and.not.contain('password')
    expect(((await stat(join(machine.folder, path))).mode & 0o777).toString(8)).to.equal('600')
    expect(await machine.read('boot/sluice-first-boot.txt')).to.not.contain('password"')
  })

  it('refuses the name of a Wi-Fi that is too long in bytes, with which no Wi-Fi at all would start', async () => {
    const machine = await make(`[wifi]\nssid = "${'ä'.repeat(17)}"\ncountry = "DE"\n`)
    const { text } = await machine.start()
    expect(text).to.contain('SLUICE_TOML_VALUE: [wifi] ssid has 34 bytes; a network has a name of up to 32.')
    expect(Object.keys(await machine.files()).filter(path => /wpa|wifi/.test(path))).to.deep.equal([])
  })

  it('changes nothing when it runs again, and starts the machine only once more', async () => {
    const machine = await make(SETTINGS)
    await machine.start()
    const before = await machine.files()
    const { text, secret } = await machine.start()
    expect(await machine.files()).to.deep.equal(before)
    expect(machine.commands).to.deep.equal([])
    expect(secret).to.contain(await machine.randomPassword())
    expect(text).to.equal(await machine.read('boot/sluice-first-boot.txt'))
  })

  it('takes away what is taken out of sluice.toml', async () => {
    const machine = await make(SETTINGS)
    await machine.start()
    await machine.write('boot/sluice.toml', '[[can]]\nname = "can0"\n')
    const { isRight } = await machine.start()
    expect(isRight).to.equal(true)
    const paths = Object.keys(await machine.files())
    expect(paths.filter(path => path.includes('systemd/network'))).to.deep.equal(
      ['link', 'network'].map(type => `root/etc/systemd/network/50-sluice-can-can0.${type}`))
    expect(paths.filter(path => /timesyncd|wpa_supplicant|etc\/ssh/.test(path))).to.deep.equal([])
    expect(machine.commands).to.include('systemctl disable --now --no-block wpa_supplicant@wlan0.service')
    expect(await machine.read('root/etc/hostname')).to.equal('gateway-7\n')
    expect(await machine.read('boot/config.txt')).to.match(/^arm_64bit=1\n+$/)
  })

  it('applies what is right, and leaves as it was what is wrong or cannot be done', async () => {
    const machine = await make(SETTINGS)
    await machine.start()
    const before = await machine.files()
    await machine.write('boot/sluice.toml', SETTINGS.replace('gateway-7', 'gateway-8').replace('DE', 'Germany').replace('250000', '1')
      .replace('10.0.0.7/24', '10.0.0.7/33').replace('Europe/Berlin', 'Europe/Bremerhaven').replace('ssh-ed25519', 'ssh-dss'))
    const { text, isRight } = await machine.start()
    expect(isRight).to.equal(false)
    for (const problem of [
      'SLUICE_TOML_VALUE: Line 12: [ssh] keys, entry 1:', 'SLUICE_TOML_VALUE: Line 22: [wifi] country must look like DE',
      'SLUICE_TOML_VALUE: Line 26: [can] bit_rate must be', '[ethernet] 10.0.0.7/33 is no address of a network',
      '[system] There is no time zone "Europe/Bremerhaven"'
    ]) expect(text).to.contain(problem)
    expect(await machine.read('root/etc/hostname')).to.equal('gateway-8\n')
    const after = await machine.files()
    const untouched = Object.keys(before).filter(path => /network|wpa_supplicant|etc\/ssh|config.txt/.test(path))
    for (const path of untouched) expect(after[path], path).to.equal(before[path])
  })

  it('does as before with a sluice.toml that cannot be read', async () => {
    const machine = await make(SETTINGS)
    await machine.start()
    const before = await machine.files()
    await machine.write('boot/sluice.toml', '[system\nhost_name = "gateway-8"\n')
    const { text, isRight } = await machine.start()
    expect(isRight).to.equal(false)
    expect(text).to.contain('SLUICE_TOML_SYNTAX: Line 1')
    const other = Object.entries(await machine.files()).filter(([path, content]) => content !== before[path]).map(([path]) => path)
    expect(other).to.deep.equal(['boot/sluice-first-boot.txt', 'boot/sluice.toml', 'root/run/issue.d/sluice.issue'])
  })

  it('does as before where sluice.toml is gone, as from a card that fails', async () => {
    const machine = await make(SETTINGS)
    await machine.start()
    const before = await machine.files()
    await rm(join(machine.folder, 'boot/sluice.toml'))
    const { text } = await machine.start()
    expect(text).to.contain('There is no sluice.toml on the boot partition: what it said last holds on.')
    const after = await machine.files()
    const gone = Object.keys(before).filter(path => !(path in after))
    expect(gone).to.deep.equal(['boot/sluice.toml'])
  })

  it('says so where the boot partition has no overlay for a CAN controller', async () => {
    const machine = await make('[[can]]\nname = "can0"\ncontroller = "mcp2515"\nchip_select = 1\n')
    const { text } = await machine.start()
    expect(text).to.contain('The boot partition has no overlays/mcp2515-can1.dtbo')
    expect(await machine.read('boot/config.txt')).to.not.contain('mcp2515')
  })

  it('makes the root read-only once the machine has its SSH keys, and writable by way of one more start', async () => {
    const machine = await make('[system]\nread_only_root = true\n')
    const flag = 'root/etc/sluice/read-only-root'
    await machine.start()
    expect(await machine.read(flag)).to.equal(null)
    await machine.write('root/etc/ssh/ssh_host_ed25519_key', '')
    await machine.start()
    expect(await machine.read(flag)).to.equal('')
    await machine.write('root/run/root/card/etc/sluice/read-only-root', '')
    await machine.write('boot/sluice.toml', '[system]\nread_only_root = false\n')
    await machine.start()
    expect(await machine.read('boot/cmdline.txt')).to.match(/ rw sluice\.writable\n$/)
    expect(machine.commands).to.deep.equal(['systemctl --no-block reboot'])
    await rm(join(machine.folder, 'root/run/root'), { recursive: true })
    await machine.start()
    expect(await machine.read(flag)).to.equal(null)
    expect(await machine.read('boot/cmdline.txt')).to.match(/ rw\n$/)
    expect(machine.commands).to.deep.equal([])
  })

  it('frees the serial port of the console, and gives it back as Debian calls it', async () => {
    const machine = await make()
    const [cmdline, defaults] = ['boot/cmdline.txt', 'root/etc/default/raspi-firmware']
    for (const [console, words, consoles] of [[false, '', 'tty0'], [true, 'console=ttyS1,115200 ', 'ttyS1,115200 tty0']]) {
      await machine.write('boot/sluice.toml', `[serial]\nconsole = ${console}\n`)
      await machine.start()
      expect(await machine.read(cmdline)).to.equal(`${words}console=tty0 root=LABEL=root rw\n`)
      expect(await machine.read(defaults)).to.equal(`ROOTPART=LABEL=root\nCONSOLES="${consoles}"\n`)
      expect(machine.commands).to.include('systemctl --no-block reboot')
    }
  })

  it('refers to sluice.toml whoever brings user-data', async () => {
    const machine = await make()
    await machine.write('boot/user-data', '#cloud-config\nhostname: gateway-7\n')
    expect((await machine.start()).text).to.contain('What user-data says (cloud-init) is not read here.')
  })

  it('makes the files of the gateway those of its user', async function () {
    if (process.getuid?.() !== 0) return this.skip()
    const machine = await make()
    await machine.write('root/var/lib/sluice/there', '')
    await chown(machine.userDir, 65534, 65534)
    await chown(machine.folder, 65534, 65534)
    const { text, isRight } = await machine.start()
    expect(isRight, text).to.equal(true)
    for (const name of ['users.json', 'flows.json', 'flows_cred.json', 'credential-secret', 'sluice/gateway-id']) {
      expect((await stat(join(machine.userDir, name))).uid, name).to.equal(65534)
    }
    expect((await stat(join(machine.folder, 'root/opt/sluice/first-boot/tls.key'))).uid).to.equal(0)
  })
})
