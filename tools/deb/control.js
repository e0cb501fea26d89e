const MAINTAINER = 'The Sluice authors <sluice@users.noreply.github.com>'

/** What the programs of the payload need: Node and the addons; systemd brings systemd-notify and systemd-sysusers. */
const DEPENDS = ['libatomic1', 'libc6 (>= 2.28)', 'libgcc-s1', 'libstdc++6 (>= 9)', 'systemd (>= 252)']

/** `ip` for the state of CAN interfaces, the rest for CAN and a broker on this machine. */
const RECOMMENDS = ['can-utils', 'iproute2', 'mosquitto']

/**
 * As Debian orders versions: 1.0.0-rc.1 comes before 1.0.0.
 * @param {string} version  semantic
 */
export function debianVersion (version) {
  return version.replace('-', '~')
}

/** @param {{version: string, arch: string, installedKiB: number}} binary  its version as Debian's */
export function controlFile ({ version, arch, installedKiB }) {
  return `Package: sluice
Version: ${version}
Section: net
Priority: optional
Architecture: ${arch}
Maintainer: ${MAINTAINER}
Installed-Size: ${installedKiB}
Depends: ${DEPENDS.join(', ')}
Recommends: ${RECOMMENDS.join(', ')}
Homepage: https://github.com/sluice/sluice
Description: gateway that carries every sensor sample from field bus to database
 Sluice reads Modbus, CAN and MQTT, keeps each sample on disk until every
 database has stored it, and stores none twice. It is Node-RED with nodes of its
 own: the flow is drawn in the browser.
 .
 The package brings its own Node.js and Node-RED and leaves others on the
 machine alone.
`
}

/**
 * The changelog that Debian wants: what has changed is in the project's own.
 * @param {string} version  Debian's
 * @param {Date} date
 */
export function changelog (version, date) {
  const [weekday, day, month, year, time] = date.toUTCString().replace(',', '').split(' ')
  return `sluice (${version}) stable; urgency=medium

  * What this version changes is in
    /usr/lib/sluice/app/node_modules/@sluice/node-red/CHANGELOG.md.

 -- ${MAINTAINER}  ${weekday}, ${day} ${month} ${year} ${time} +0000
`
}

/**
 * The manual page: what `sluice --help` says.
 * @param {string} help
 * @param {string} version
 * @param {Date} date
 */
export function manualPage (help, version, date) {
  const text = help.replaceAll('\\', '\\\\').replaceAll('-', '\\-').replace(/^([.'])/gm, '\\&$1')
  return `.TH SLUICE 1 "${date.toISOString().slice(0, 10)}" "Sluice ${version}"
.SH NAME
sluice \\- gateway that carries sensor samples from field bus to database
.SH SYNOPSIS
.nf
${text.trim()}
.fi
.SH FILES
.TP
.I /etc/sluice/sluice.env
Settings of the service.
.TP
.I /var/lib/sluice
Flows, spools, databases and credentials of the service: give it to commands as \\-\\-user\\-dir.
.SH SEE ALSO
.I /usr/share/doc/sluice/README.Debian
`
}
