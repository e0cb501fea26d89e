/* eslint max-lines: off -- a table */
/**
 * What an operator needs to know about each error code: what it means, and what to do. `docs/errors.md` is generated from it, and
 * `test/nodes/faces.test.js` fails when a code of the sources is missing here, or is here and in no source.
 * @type {Record<string, Record<string, [meaning: string, whatToDo: string]>>}
 */
export const errors = {
  'Starting and setting up': {
    SLUICE_OPTIONS: [
      'An option of a node or command is missing, of the wrong type, out of its limits, or contradicts another one.',
      'The message names the option and what it accepts; correct it in the form of the node and deploy.'
    ],
    SLUICE_USAGE: [
      'A command was called with arguments it does not understand.',
      'Run the command with `--help`.'
    ],
    SLUICE_NODE_VERSION: [
      'The Node.js that runs the command is too old.',
      'Install the version that the message names, or a newer one, from https://nodejs.org.'
    ],
    SLUICE_PORT_TAKEN: [
      'The gateway cannot listen on its port: another program uses it, it needs other rights, or the address is not one of this machine.',
      'Stop the other program, or choose another port with `--port`, or `SLUICE_PORT` in the environment.'
    ],
    SLUICE_USER_DIR_IN_USE: [
      'Another gateway runs on the same data folder.',
      'Stop that one, or give this one a folder of its own with `--user-dir`.'
    ],
    SLUICE_NODE_UNSTARTED: [
      'Node-RED says that the flow has started, but has not made this node, as where config nodes need each other.',
      'Read the error in the log of the gateway, correct the node in the editor and deploy.'
    ],
    SLUICE_USER_DIR: [
      'The user that the gateway runs as may not write the data folder, or a file in it: they belong to somebody else, as where it was ' +
      'started as root once or the container has another user now, or the disk is read-only.',
      'Give all of it to that user (`chown -R`), or choose another folder with `--user-dir`.'
    ],
    SLUICE_FLOW_FILE: [
      'The flow of the data folder, or that of `--flows` or `--first-flow`, does not exist, cannot be read, or is no flow. The gateway ' +
      'does not start with an empty one instead.',
      'Give the path of a flow exported from the editor. Beside `flows.json` lies that of the deploy before, `.flows.json.backup`.'
    ],
    SLUICE_SECRETS: [
      'The folder given with `--secrets`, or a file in it, cannot be read.',
      'Check its path, and that the user the gateway runs as may read it.'
    ],
    SLUICE_OTLP_MISSING: [
      'The environment asks for metrics by OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`), and its packages, which are optional, are not ' +
      'installed. All else runs.',
      'Install those that the message names beside Sluice, have a collector scrape `/sluice/metrics`, or remove the variable.'
    ],
    SLUICE_OTLP: [
      'Metrics could not be sent by OpenTelemetry; the message has what its library says. It goes on trying.',
      'Check that the collector runs and takes OTLP over HTTP as protobuf, and the variables `OTEL_EXPORTER_OTLP_…`.'
    ],
    SLUICE_SERVICE_NOTIFY: [
      'systemd waits to hear that the gateway is ready and lives, but `systemd-notify`, which tells it, fails: it restarts the gateway.',
      'See what the message says of the program; without it, `systemctl edit` the service to `Type=exec` and `WatchdogSec=0`.'
    ],
    SLUICE_DISK_FULL: [
      'The gateway could not start, or a node not open its spool, because the disk of the data folder is full.',
      'Make room, then start it again, or deploy: `sluice doctor` shows what is left and what the spools take. Those hold what no sink ' +
      'has stored yet, so make room elsewhere.'
    ],
    SLUICE_DOCTOR_BUNDLE: [
      '`sluice doctor --bundle` could not write its file.',
      'Name a file in a folder that you may write, on a disk with room.'
    ],
    SLUICE_NODE_RED_MISSING: [
      'Node-RED is not installed where the gateway looks for it.',
      'Install it beside Sluice: `npm install node-red`.'
    ]
  },

  'First boot': {
    SLUICE_TOML_SYNTAX: [
      'The `sluice.toml` on the boot partition is not TOML. What the last one that could be read says holds on.',
      'Correct the line that the message names, as in the comments of the template, and start the machine again.'
    ],
    SLUICE_TOML_VALUE: [
      'A key of `sluice.toml` is unknown, or its value is not as it has to be. What it concerns stays as it was; all else is applied.',
      'Correct the line that the message names; [First boot](deploy.md#first-boot) has all keys.'
    ],
    SLUICE_FIRST_BOOT: [
      'Something that `sluice.toml` asks for could not be done: a file is missing on the boot partition, or a program has failed.',
      'The message says what to do. It is tried again at each start.'
    ]
  },

  'Exporting and applying': {
    SLUICE_APPLY_INPUT: [
      'A folder that was to be applied is damaged, made by another version, or has a flow that this gateway cannot run. Nothing was ' +
      'changed.',
      'The message names the file and what is wrong; mend it, or export again.'
    ],
    SLUICE_APPLY_SECRETS: [
      'A folder that was to be applied needs passwords that neither this machine has nor were given. Nothing was changed.',
      'Set the variables that the message names, or fill in a copy of `secrets.example` and give it with `--secrets`.'
    ],
    SLUICE_APPLY_EDITED: [
      'Somebody has edited the flow of this gateway since the last `sluice apply`, which would undo that. Nothing was changed.',
      'Look at it with `--dry-run`. Export it to keep it; `--overwrite` gives it up.'
    ],
    SLUICE_APPLY_CHANGED: [
      'While a running gateway was compared with a folder, somebody has deployed. The flow was not changed.',
      'Run the command again.'
    ],
    SLUICE_APPLY_GATEWAY: [
      'The running gateway does not answer, refuses the login, or is not the one whose data folder was given.',
      'Check `--url`, `--user`, `--password-env` and `--user-dir`; or stop the gateway, and leave `--url` out.'
    ],
    SLUICE_CREDENTIALS: [
      'The passwords of a flow cannot be decrypted: they are not those of the data folder that was given, or damaged.',
      'Run the command as the user of the gateway, with its `--user-dir`. Put a `credentialSecret` of `settings.js` into the ' +
      'environment, too, as `SLUICE_CREDENTIAL_SECRET`.'
    ]
  },

  Updates: {
    SLUICE_UPDATE_PLACE: [
      'In this folder is no release that `sluice update` could replace: Sluice came in another way, as a package or a container; or the ' +
      'link `current` leads to a release that is gone.',
      'Update it in that way, which the message names; or give the folder with `--root`; or have the link lead to a release.'
    ],
    SLUICE_UPDATE_FILE: [
      'What was given is not a release: it is missing, damaged, not whole, or has what no release has, such as links.',
      'Copy or download its three files again.'
    ],
    SLUICE_UPDATE_SIGNATURE: [
      'Nobody whose key is known has signed the release, or the signature is missing.',
      'Keep the files `.sha256` and `.sha256.sig` beside it. A release of your own is checked by the key of `--key` or in ' +
      '`/etc/sluice/update-keys`.'
    ],
    SLUICE_UPDATE_UNFIT: [
      'The release is for another kind of machine, or older than the one that is installed.',
      'Take the file for this machine; an older release needs `--allow-downgrade`.'
    ],
    SLUICE_UPDATE_FORMATS: [
      'One of the two releases does not read what the other writes to the disk: the update, or the way back, would leave rows waiting in ' +
      'spools.',
      'Take a release in between first, or empty the spools; `--one-way` does without the way back.'
    ],
    SLUICE_UPDATE_SPACE: [
      'There is no room for the release beside the present one.',
      'Remove what is not needed from that disk.'
    ],
    SLUICE_UPDATE_WRITE: [
      '`sluice update` may not write where the releases are: it was not started by root, or the disk is mounted only for reading.',
      'Use `sudo`. A disk that fails is mounted so by the kernel, whose log says why: `journalctl -k`.'
    ],
    SLUICE_UPDATE_UNDER_WAY: [
      'Another update is being carried out, or its release is still on trial.',
      'Wait for two minutes. `sluice update --status` tells how it stands; `sluice update --back` gives a release on trial up.'
    ],
    SLUICE_UPDATE_RETURNED: [
      'The new release was not healthy within two minutes; the one before has been started again.',
      'The message says why, and so does `sluice update --status`; the log of the gateway has more.'
    ]
  },

  'Access from the network': {
    SLUICE_TLS_FILE: [
      'The certificate or key given with `--tls-cert` and `--tls-key` cannot be read, or they do not belong together.',
      'Check paths and permissions; both are PEM files, the key without a password.'
    ],
    SLUICE_WEB_HOST: [
      'A request names the gateway by a name that is not its own. Anybody can have a name of theirs point at its address, so that their ' +
      'page counts as one of the gateway\'s.',
      'Use an address, `localhost` or the name of the machine; or allow the name: see [Access](access.md#names).'
    ],
    SLUICE_WEB_ORIGIN: [
      'A page of another site, or of another port of this machine, has tried to use the gateway through the browser that shows it.',
      'If it is a name of the gateway behind a proxy, allow it: see [Access](access.md#names).'
    ],
    SLUICE_WEB_JSON: [
      'A program has sent something other than JSON to what the editor\'s forms ask.',
      'Send it with the header `Content-Type: application/json`.'
    ],
    SLUICE_LOGIN_MISSING: [
      'The gateway is to listen where others reach it, and nobody would have to log in.',
      'Enter a user with `sluice start --login` or `--login-file`, or listen on this machine only.'
    ],
    SLUICE_LOGIN_NEEDED: [
      'A page needs a login, or name or password is wrong.',
      'Log in as a user of the gateway; `sluice start --login` sets a new password.'
    ],
    SLUICE_LOGIN_ROLE: [
      'This user may look, and change nothing.',
      'Log in as a user with the role *change*, or give this one that role with `sluice start --login`.'
    ],
    SLUICE_LOGIN_WAIT: [
      'Too many wrong passwords came from this address, or too many are being checked.',
      'Wait for as long as the message says: at most a minute.'
    ],
    SLUICE_ALARM_UNKNOWN: [
      'An alarm was acknowledged that is not raised; it may have been cleared meanwhile.',
      '`GET /sluice/alarms` lists those that are.'
    ],
    SLUICE_LOGIN_TICKET: [
      'The stream of the live page was asked for without the ticket that the page gets, or with one that was used or is too old.',
      'Load the live page; it gets its tickets by itself.'
    ],
    SLUICE_LOGIN_USERS: [
      'The users that were entered cannot be taken, or the file that has them cannot be read.',
      'The message says what is wrong. A line is `NAME:ROLE:PASSWORD`, the role `view` or `change`, the password at least 8 characters.'
    ],
    SLUICE_LOGIN_FILE: [
      'The file of `--login-file` or `--metrics-token-file` cannot be read, or is empty.',
      'Check its path, content and permissions.'
    ]
  },

  Sources: {
    SLUICE_SOURCE_COMMAND: [
      'A source got a message that is not a command.',
      'Send `true` or `"start"`, `false` or `"stop"` as payload.'
    ],
    SLUICE_SOURCE_NAME: [
      'The name of a source is too long (it is in every record and topic), or has NUL or half a surrogate pair, which not every broker ' +
      'and database gives back.',
      'Give the source a shorter name, of other characters.'
    ],
    SLUICE_SOURCE_COUNT: [
      'One stage node has batches of too many sources; the new one is refused until all of another is stored, or it has been silent for ' +
      'ten minutes.',
      'Put what varies (a serial number, a time) into a field or tag instead of the name of the source, or raise the limit in the form.'
    ],
    SLUICE_CSV_FILE: [
      'A CSV file cannot be read.',
      'Check its path and permissions, and that the disk is not failing.'
    ],
    SLUICE_CSV_COLUMNS: [
      'The columns of a CSV file are not those of the table in the form, or the file has changed since it was opened.',
      'Correct the table of columns or the separator; start the node again to read a changed file.'
    ],
    SLUICE_CSV_TIMES: [
      'The node is to keep the times of the file, and they have no dates; or these leave open whether the day or the month is first.',
      'Choose times shifted to now, or the format of times.'
    ],
    SLUICE_CSV_EMPTY: [
      'A CSV file has no row that can be read.',
      'Check the separator, the format of the times and the columns.'
    ],
    SLUICE_TIME_FORMAT: [
      'A value that should be a time is not one.',
      'Use a number, a BigInt of nanoseconds, a Date, or ISO 8601 text with a zone and at most nine decimals.'
    ],
    SLUICE_TIME_UNIT: [
      'The unit of a time is unknown.',
      'Use `s`, `ms`, `us` or `ns`.'
    ],
    SLUICE_TIME_PRECISION: [
      'A time is a number too large to be exact, or text finer than a nanosecond.',
      'Send such times as BigInt or text, with as many decimals as nanoseconds have.'
    ],
    SLUICE_TIME_RANGE: [
      'A time is not between 1970 and 2262, or falls in 1970, as times in a wrong unit do.',
      'Set the unit in which the time is given, or check the clock it comes from.'
    ]
  },

  Modbus: {
    SLUICE_MODBUS_DEVICE_MISSING: [
      'The node names no Modbus device, or one that could not be set up.',
      'Choose a device in its form and deploy; look at the message of the device itself.'
    ],
    SLUICE_MODBUS_SERIALPORT: [
      'Serial lines need the package `serialport`, which is not installed.',
      'Run `npm install serialport` in the user directory of Node-RED, and start it again.'
    ],
    SLUICE_MODBUS_DISCONNECTED: [
      'There is no connection to the device; it is tried again without end.',
      'Check host and port or the serial port, the cable, and that the device is on.'
    ],
    SLUICE_MODBUS_TIMEOUT: [
      'The device did not answer a request in time; the values of that request are missing.',
      'Check unit and cable; raise the timeout if the device is slow.'
    ],
    SLUICE_MODBUS_SILENT: [
      'The device has not answered for a while and is asked less often, so that it does not delay others on its line.',
      'Nothing, if it is switched off: it is asked again at the time in the message. Otherwise check unit and cable.'
    ],
    SLUICE_MODBUS_EXCEPTION: [
      'The device refused a request, with the exception code in the message (2: address unknown, 3: value or count not accepted).',
      'Compare the addresses with the manual of the device (*Try* reads one register); lower the registers per request.'
    ],
    SLUICE_MODBUS_REPLY: [
      'What came back is not an answer to the request: damaged, of another unit, or of the wrong length.',
      'Check baud rate, parity and wiring; only one master may use a serial line.'
    ],
    SLUICE_MODBUS_BUSY: [
      'More requests wait for the device than it can answer.',
      'Poll more slowly, or allow several requests under way.'
    ],
    SLUICE_MODBUS_REQUEST: [
      'A request that Modbus or the limits of this device do not allow, such as more values than fit.',
      'Check addresses and counts, and the limits in the form of the device.'
    ],
    SLUICE_MODBUS_CLOSED: [
      'A request was ended because its device or node was deployed again.',
      'Nothing: polling continues after the deploy. A write that was under way has to be sent again.'
    ],
    SLUICE_MODBUS_VALUE: [
      'A value cannot be written to its tag: wrong type, out of the range of its registers, or a single bit of a register.',
      'Send a value of the type and in the range that the table of tags states.'
    ],
    SLUICE_MODBUS_WRITE: [
      'A message for *Modbus write* cannot be written: an unknown tag, a value outside its limits, or too many messages waiting. ' +
      'Nothing was sent.',
      'Correct the payload, or send fewer messages.'
    ],
    SLUICE_MODBUS_WRITE_OFF: [
      'The node is not allowed to write.',
      'Tick *Allow writing* in its form, and deploy.'
    ],
    SLUICE_MODBUS_WRITE_FAILED: [
      'A write failed; the message lists what was written before it and what was not.',
      'Remove the cause that the message names, read the tags, then write again.'
    ],
    SLUICE_MODBUS_WRITE_UNCONFIRMED: [
      'The device accepted a write, but reading back gave another value or none.',
      'Read the tag: the device may limit the value, need time, or keep the tag in other registers.'
    ],
    SLUICE_MODBUS_TRY: [
      '*Try* in the form got an address or count that does not exist, or no answer in time.',
      'Correct area, address and count; check that the device answers.'
    ],
    SLUICE_MODBUS_FAULT: [
      'A command to the *Modbus simulator* names a fault or a property that does not exist, or there are too many faults.',
      'Send for example `{"fault": "silence", "unit": 3, "seconds": 10}`; end all faults with `{"fault": "none"}`.'
    ],
    SLUICE_MODBUS_LISTEN: [
      'The *Modbus simulator* cannot listen on its port or open its serial line.',
      'Choose a free port above 1023 and an address of this machine, or a serial port that no other program uses.'
    ]
  },

  CAN: {
    SLUICE_CAN_BUS_MISSING: [
      'The node names no CAN bus, or one that could not be set up.',
      'Choose a bus in its form, and deploy.'
    ],
    SLUICE_CAN_SOCKETCAN: [
      'SocketCAN is not available: the system is not Linux, or the package `socketcan` is missing or was not compiled.',
      'Run `npm install socketcan` in the user directory of Node-RED (it needs python3, make and a C++ compiler), play a log, or use a ' +
      'virtual bus.'
    ],
    SLUICE_CAN_SEND: [
      'A frame was not sent: sending is not allowed on this bus, the bus cannot carry it (CAN FD), it did not take it, or too many wait.',
      'Allow sending in the form of the bus; check its bit rate, and that another device acknowledges frames.'
    ],
    SLUICE_CAN_READ_ONLY: [
      'A frame was sent to a bus that plays a log.',
      'Send to a SocketCAN or virtual bus.'
    ],
    SLUICE_CAN_FILTER: [
      'The identifier filter cannot be read.',
      'Write for example `123, 200-2FF, 18FEF100x, 7E8:7F8`, in hexadecimal.'
    ],
    SLUICE_CAN_FRAME: [
      'A payload is not a CAN frame, or not a message with signals.',
      'Send a candump line, an object with `id` and `data`, or `{message, signals}`; see the help of the node.'
    ],
    SLUICE_CAN_MESSAGE: [
      'The DBC file has no message of that name.',
      'Check the spelling (*Check file* lists what was read), or choose the DBC file that has it.'
    ],
    SLUICE_CAN_ENCODE: [
      'The values of a message cannot be put into its frame: out of the range of a signal, or a signal it does not have.',
      'Send values in the range that the message states, and only signals of the message (and of its multiplexor value).'
    ],
    SLUICE_DBC_FILE: [
      'A DBC file cannot be read, is not named, or is too large to be one.',
      'Check its path and permissions.'
    ],
    SLUICE_DBC_EMPTY: [
      'A DBC file has no message that can be read.',
      'Check that it is a DBC file; the message gives the first line that could not be read.'
    ],
    SLUICE_DBC_FORMAT: [
      'A file in another format (KCD, SYM, ARXML) is given as a DBC file.',
      'Convert it to a DBC file, for example with `canconvert` of canmatrix.'
    ],
    SLUICE_VEHICLE_MESSAGES: [
      'No message of the DBC file fits into one frame, so the vehicle has nothing to send.',
      'Choose another DBC file.'
    ],
    SLUICE_REPLAY_FILE: [
      'A CAN log cannot be read.',
      'Check its path and permissions.'
    ],
    SLUICE_REPLAY_EMPTY: [
      'A CAN log has no frame.',
      'Record one with `candump -l`.'
    ],
    SLUICE_CAN_LOG_FORMAT: [
      'A CAN log is in a format that is not read (BLF, MDF, pcap, Digital Yacht), or compressed.',
      'Convert it to one that is read (candump, Vector ASC, PCAN TRC, actisense-serial or canboat raw, Actisense N2K ASCII, ' +
      'Yacht Devices RAW), for example with `can_logconvert` of python-can; or unpack it.'
    ],
    SLUICE_REPLAY_TIMES: [
      'The player is to keep the times of the log, and they have no dates.',
      'Choose times shifted to now, or record the log with `candump -l`.'
    ]
  },

  Messages: {
    SLUICE_PAYLOAD: [
      'Rows of a message were refused; the message names the first one and the reason. The others were accepted.',
      'Correct what sends them: NaN, infinities, objects within a row and values of another type than their column are not accepted.'
    ],
    SLUICE_PAYLOAD_NAMES: [
      'A document would get two columns of one name, or more columns than allowed.',
      'Rename the keys (`a.b` and `{a: {b}}` are one name), or split the document.'
    ],
    SLUICE_PAYLOAD_OPERATION: [
      'A message for a MongoDB node asks for another operation than inserting.',
      'Keep the other node for that; to store `msg.payload`, delete `msg.operation`.'
    ],
    SLUICE_PAYLOAD_SQL: [
      'A message has SQL that is not a plain INSERT, cannot be read, or lacks parameters.',
      'Send `INSERT INTO table (columns) VALUES (…)` with its parameters, or the rows themselves; other SQL needs another node.'
    ],
    SLUICE_MESSAGE: [
      'An MQTT message could not be read, in whole or in part; what was refused is kept among the dead letters. ' +
      'Or QoS 0 messages came faster than they could be kept.',
      'Look at it in the *dead letters* node; correct the publisher, and let it publish with QoS 1.'
    ],
    SLUICE_MAPPING: [
      'A topic mapping cannot be applied: its pattern, source, preset or a path is not what it may be. The message names the mapping ' +
      'by its number in the list, and what is wrong.',
      'Correct it in the form of the node, which tries it on messages, and deploy.'
    ],
    SLUICE_MESSAGE_TOO_LARGE: [
      'A message, or a part of it, was refused before it would have taken too much memory: too long, too many rows, values, or rows × ' +
      'fields that hold nothing, nested too deeply, or a dictionary that stands for too much.',
      'Send it as several messages; put values of one time into one row.'
    ],
    SLUICE_CODEC_ARROW: [
      'Bytes are not an Arrow stream that Sluice reads, or a batch cannot be written as one (two fields of one name, a field `time`).',
      'Check what the publisher sends: an IPC stream with a column `time`.'
    ],
    SLUICE_BATCH_SHAPE: [
      'A batch contradicts itself, for example columns of different lengths. Only code can cause this.',
      'If the batch comes from a function node, correct it there; otherwise report it.'
    ],
    SLUICE_SPARKPLUG: [
      'A payload is not Sparkplug B, or is compressed in a way that cannot be read.',
      'Check the publisher; have the edge node send with GZIP, DEFLATE or without compression.'
    ],
    SLUICE_SPARKPLUG_NAME: [
      'Two nodes would be the same Sparkplug edge node at one broker.',
      'Give one of them another group or edge node id.'
    ],
    SLUICE_SPARKPLUG_WRITE: [
      'A message for *Sparkplug write* cannot be written: a metric that is not in its table, a value of another type or outside its ' +
      'limits, or no connection to the broker. Nothing was sent.',
      'Correct the payload, or send it again once the broker is connected.'
    ],
    SLUICE_SPARKPLUG_WRITE_OFF: [
      'The node is not allowed to write.',
      'Tick *Allow writing* in its form, and deploy.'
    ]
  },

  'Staging: spool, broker, flow': {
    SLUICE_SPOOL_OPEN: [
      'The folder of a spool cannot be opened.',
      'Check that the folder in the message can be created and written to, and that its disk is sound.'
    ],
    SLUICE_SPOOL_GATEWAY: [
      'The spool holds batches of a gateway with another id, so that no sink would ever report them as stored.',
      'Write that id into the file `gateway-id` of the data folder, or move the folder of the spool away.'
    ],
    SLUICE_SPOOL_FULL: [
      'The spool and its waiting room are full. Sources of Sluice that feed it wait, and third-party messages stay with the broker. What ' +
      'else sends rows to a *stage out* does not wait: they are refused, counted (status, alarm `rows-refused`, ' +
      '`sluice_staged_dropped_rows_total`), and lost unless a catch node keeps them.',
      'Find out why the sinks do not store (`sluice sinks list`), raise the cap, or let the spool drop the oldest.'
    ],
    SLUICE_SPOOL_BATCH_TOO_BIG: [
      'A row takes more than 16 MiB, or a batch more than a quarter of the spool.',
      'Make batches smaller, or the spool larger.'
    ],
    SLUICE_SPOOL_DAMAGED: [
      'Something in the folder of a spool cannot be read; that is lost, and counted. Unreadable files are kept, as `*.damaged`.',
      'Check the disk, and what else writes there. After power cuts, *Write to disk* = every batch keeps all that was accepted.'
    ],
    SLUICE_SPOOL_VERSION: [
      'In the folder of a spool is something that another version has written, or a stranger: it is left as it is. A spool whose state a ' +
      'newer version has written is not opened.',
      'Empty the spools with the version that wrote them before you change versions, or move it away.'
    ],
    SLUICE_SPOOL_SET_BACK: [
      'A broker or database has batches of the present epoch that the spool has not produced yet; a new epoch begins.',
      'Nothing where the machine was restored. Of a copy of a running one, delete the file `gateway-id` before it starts.'
    ],
    SLUICE_SPOOL_CLOSED: [
      'A batch came while its spool was being closed, or waited when the spool was closed; the message has the reason why it waited.',
      'Nothing at a deploy or stop: a source that can send it again does so.'
    ],
    SLUICE_BROKER_MISSING: [
      'The node names no MQTT broker, or one that could not be set up.',
      'Choose a broker in its form, and deploy.'
    ],
    SLUICE_BROKER_OPTIONS: [
      'The address of the broker cannot be used, contains a password, or a certificate file cannot be read.',
      'Write `mqtt://host:port` or `mqtts://host:port`; give user and password in their own fields, certificates as PEM.'
    ],
    SLUICE_BROKER_RIGHTS: [
      '*Test connection* was let in by the broker, and may not publish or subscribe to what the message names.',
      'Give the gateway an account in its name; for Mosquitto, `sluice broker-acl` writes what each may do.'
    ],
    SLUICE_BROKER_REFUSED: [
      'Nothing listens at the address of the broker.',
      'Start the broker, or correct host and port.'
    ],
    SLUICE_BROKER_UNREACHABLE: [
      'The broker cannot be reached, or does not answer in time.',
      'Check the host name, the network and the firewall.'
    ],
    SLUICE_BROKER_SILENT: [
      'What listens there does not answer as an MQTT broker.',
      'Check that it is one, use `mqtts://` where it requires TLS, and try protocol version 3.1.1.'
    ],
    SLUICE_BROKER_AUTH: [
      'The broker refuses the login, or what this client wants to do.',
      'Check user and password, and that the access rules of the broker allow this client id and its topics.'
    ],
    SLUICE_BROKER_TLS: [
      'The certificate of the broker is not trusted, or the encrypted connection failed.',
      'Give the CA certificate and the host name it was issued for; check that the port speaks TLS.'
    ],
    SLUICE_BROKER_PROTOCOL: [
      'The broker does not speak the chosen MQTT version.',
      'Set the protocol version to *auto*.'
    ],
    SLUICE_BROKER_CLIENT_ID: [
      'The broker does not accept the client id.',
      'Check its rules for client ids: they must allow `sluice-…`.'
    ],
    SLUICE_BROKER_BUSY: [
      'The broker accepts no connections at present; it is tried again without end.',
      'If it lasts, look at the load and the connection limits of the broker.'
    ],
    SLUICE_BROKER_TAKEN_OVER: [
      'Another client has connected with the same client id, or another gateway stages in, or reads, the same Kafka under the same id.',
      'Two gateways have one id (a copied data folder: delete `sluice/gateway-id` in the copy), or two sinks have one name.'
    ],
    SLUICE_BROKER_LOST: [
      'The connection to the broker was lost; it is made again without end.',
      'If it repeats at once, another client may use the same client id.'
    ],
    SLUICE_BROKER_CONNECTION: [
      'The connection to the broker failed for another reason, which the message gives; it is tried again without end.',
      'Act on that reason; `sluice preflight` shows more.'
    ],
    SLUICE_KAFKA_TOPIC_LOST: [
      'A topic that batches are staged in was deleted, or created anew.',
      'If it was not meant, find out who deletes topics with the prefix `sluice_stage_`. It is created, and what is not stored is sent.'
    ],
    SLUICE_BROKER_PORT: [
      'The *embedded broker* cannot listen on its port.',
      'Use the broker that has the port already, or choose another port above 1023 and an address of this machine.'
    ],
    SLUICE_BROKER_OPEN: [
      'The *embedded broker* is to listen where other machines reach it, and nobody would have to log in: anybody there could read all ' +
      'data and store rows.',
      'Enter users in its form, or have it listen on 127.0.0.1; for other machines a Mosquitto with TLS is better.'
    ],
    SLUICE_LISTEN_REFUSED: [
      'A form has tried mappings (*Listen*), and the broker lets its user read none of the topics, or Kafka has none of them.',
      'Allow the user of the *MQTT broker* or *Kafka server* node to read there, or listen to other topics.'
    ],
    SLUICE_TRY_TOPICS: [
      'A form has tried mappings on messages that are no longer kept, or on one that is too long.',
      'Press *Listen* again, or paste a shorter message.'
    ],
    SLUICE_BROKER_ACCOUNT: [
      'An account of a broker, or what it is to be granted, cannot be understood or would open the topics of Sluice.',
      'Write what the message asks for; [Access](access.md#brokers) has the roles.'
    ],
    SLUICE_BROKER_DENIED: [
      'A user of the *embedded broker* tried to write where it may not, and was disconnected.',
      'If it is one of yours, check its role and its other topics; a gateway\'s user must have the gateway\'s id as its name.'
    ],
    SLUICE_BROKER_PACKET: [
      'A client of the *embedded broker* sent a larger message than it takes, and was disconnected.',
      'Have it send less at once, or raise *Largest message* in the broker\'s form.'
    ],
    SLUICE_BROKER_CLIENTS: [
      'The *embedded broker* has as many clients as it may, those included that are away and have left a session.',
      'Raise *Clients* in its form; a restart forgets the sessions.'
    ],
    SLUICE_PROTOCOL: [
      'A message on one of Sluice\'s own topics is not as specified, or exceeds its bounds; it is ignored.',
      'Find out who else publishes below `sluice/v2/`, and give each gateway the right to write below its own name only.'
    ],
    SLUICE_REQUIRED_SINKS: [
      'The list of the sinks that the spools wait for cannot be read or saved, or more are announced on the broker than find room ' +
      '(1000, and 100 of one consumer): then the spools release nothing, as nobody knows what the others lack.',
      'Check the disk; a damaged list is kept beside the new one. Too many announcements: find out who publishes `sluice/v2/+/sinks/+`, ' +
      'and put empty retained messages in place of what should not be there; where there were very many, restart the gateway.'
    ],
    SLUICE_SINK_WIRED: [
      'A sink that is to be forgotten is wired in this gateway.',
      'Delete its node, and deploy: that ends it.'
    ],
    SLUICE_STRANGER: [
      'A commit came over the broker in the name of this gateway, or of a sink that no spool waits for; it is ignored.',
      'Find out who publishes below `sluice/v2/`, and give each gateway the right to write below its own name only.'
    ],
    SLUICE_CLASH: [
      'A database has another batch under the identity of one of this gateway\'s; this gateway\'s is staged again under a new one.',
      'Somebody uses the name of this gateway: a copied data folder (delete `sluice/gateway-id` in the copy), or a forger on the broker.'
    ],
    SLUICE_DOUBT: [
      'A database may have other batches under the names of ours: sums of merged records do not match. Ours are kept.',
      'Was this machine set back while it ran? Compare the rows; then delete the sink, or `sluice sinks forget`, to go on without it.'
    ],
    SLUICE_SET_BACK: [
      'A sink\'s database has less than before, or is another one: restored, failed over, replaced. What it lacks is sent again.',
      'Nothing, if you did that. What the spool no longer holds is counted as lost.'
    ],
    SLUICE_ROW_TOO_BIG: [
      'A single row is larger than the broker passes on, or the connection breaks whenever it is sent; it stays in the spool.',
      'Allow larger messages (Mosquitto: `message_size_limit`, `max_packet_size`).'
    ],
    SLUICE_HEAD_TOO_BIG: [
      'What a spool holds cannot be said in one message that the broker and the readers accept.',
      'Use fewer sources in one *stage out*, or allow larger messages (Mosquitto: `message_size_limit`, `max_packet_size`).'
    ],
    SLUICE_SINK_EXPIRED: [
      'A sink of another gateway was announced 24 h ago and has never stored anything: the spools no longer wait for it.',
      'Nothing, if it is gone for good. Otherwise have it store something; then it is waited for again.'
    ],
    SLUICE_STAGE_IN_SINKS: [
      'No sink is wired behind a *stage in*, so that nothing could ever be acknowledged.',
      'Wire a sink behind it, or name the sinks in its form.'
    ],
    SLUICE_KAFKA_GROUP: [
      'Two nodes *Kafka in* share a group and a topic, but lead to different sinks. Each partition is read by one of them, so that none ' +
      'of the sinks gets all.',
      'Give each a group of its own, or wire the same sinks behind both.'
    ],
    SLUICE_SETTLE: [
      'A message that came to *settle* has no `msg.delivery`.',
      'Wire the node behind a *stage in*, and let the nodes between them keep `msg.delivery`.'
    ]
  },

  Sinks: {
    SLUICE_SINK_NAME: [
      'Two sinks behind one *stage in* have the same name, by which a group knows what each has stored.',
      'Give each its own name. Without a group, names are labels.'
    ],
    SLUICE_SINK_CONNECT: [
      'The database cannot be reached, refuses the login, or lacks what was named (database, bucket, right).',
      'Press *Test connection* in the form of the server: it says what is wrong and what to do. Sinks try again without end.'
    ],
    SLUICE_SERVER_MISSING: [
      'The node names no database server, or one that could not be set up.',
      'Choose a server in its form, and deploy.'
    ],
    SLUICE_SERVER_PASSWORD: [
      'A form that tests a connection names another server than the one whose password is stored.',
      'Enter the password in the form.'
    ],
    SLUICE_SERVER_SILENT: [
      '*Test connection* got no answer in time.',
      'Check host and port, and the firewalls on the way.'
    ],
    SLUICE_SINK_CLOSED: [
      'A sink or its connections were used while they were being closed.',
      'Nothing at a deploy or stop: staged batches come again.'
    ],
    SLUICE_SINK_IDENTIFIER: [
      'The database cannot have a table, column, measurement or file of that name; the rows become dead letters.',
      'Rename the source, field or tag, or set another table; then replay the dead letters.'
    ],
    SLUICE_SINK_TABLE_MISFIT: [
      'A batch does not fit the table: a column of another type, or a layout that the table does not have. Its rows become dead letters.',
      'Set another table or layout, or change the table as the message says; then replay the dead letters.'
    ],
    SLUICE_SINK_ROWS: [
      'The database, or its protocol, cannot hold some rows; they become dead letters, and all others are stored.',
      'Correct what produces them, or the limit that the message names; then replay the dead letters.'
    ],
    SLUICE_SINK_NOT_OWNED: [
      'A sink with *Keep for* stores in a table that Sluice did not make, or where it cannot remove its own rows alone. None are removed.',
      'Mark the table as Sluice\'s ([Databases](databases.md#retention) says how), have the server itself remove what is old where the ' +
      'message says so, or set *Keep for* to 0.'
    ],
    SLUICE_SINK_SET_BACK: [
      'Commit records are gone which this sink had left or read while the gateway ran: it was restored from a backup, a replica ' +
      'that lagged behind took over, its file was replaced, or records were deleted by hand.',
      'Nothing. The sink reads again what the database has, and what spools still hold of the rest is stored again. What they had ' +
      'released before is missing: the balance of *stage in* counts it as lost.'
    ],
    SLUICE_SINK_RECORDS_OLD: [
      'The table `sluice_commits` was made by Sluice 0.1, whose commit records lack what this version checks.',
      'Let version 0.1 store all that its spools hold, then drop the table `sluice_commits`; the rows of the other tables stay. Or set ' +
      'another database or schema.'
    ],
    SLUICE_SINK_POSTGRESQL: [
      'PostgreSQL refused what the sink did.',
      'The message has the reason of the server. What may pass is tried again; rows it refuses for good become dead letters.'
    ],
    SLUICE_SINK_TIMESCALE: [
      'The table is to be a hypertable, and the database has no TimescaleDB.',
      'Run `CREATE EXTENSION timescaledb` in it, or switch *Hypertable* off.'
    ],
    SLUICE_SINK_MYSQL: [
      'MariaDB or MySQL refused what the sink did.',
      'The message has the reason of the server. What may pass is tried again; rows it refuses for good become dead letters.'
    ],
    SLUICE_SINK_SQLITE: [
      'SQLite refused what the sink did: a full disk, a file without write permission, a damaged file, or a violated constraint.',
      'Act on the reason in the message. What may pass is tried again; rows it refuses for good become dead letters.'
    ],
    SLUICE_DUCKDB_MISSING: [
      'The package `@duckdb/node-api` is not installed, or has no build for this machine (it has builds for x64 and arm64).',
      'Run `npm install @duckdb/node-api` in the user directory of Node-RED, and start it again.'
    ],
    SLUICE_SINK_DUCKDB: [
      'DuckDB refused what the sink did; often another process has the file open.',
      'End the other process, or act on the reason in the message. What may pass is tried again; refused rows become dead letters.'
    ],
    SLUICE_SINK_MONGODB: [
      'MongoDB refused what the sink did.',
      'The message has the reason of the server. What may pass is tried again; rows it refuses for good become dead letters.'
    ],
    SLUICE_SINK_TIMESERIES: [
      'The server has no time-series collections.',
      'Set another layout, or use MongoDB 5.0 or newer.'
    ],
    SLUICE_SINK_INFLUXDB: [
      'InfluxDB refused what the sink did, or would drop points (a retention policy, a field of another type).',
      'The message has the reason; check the rights of user or token, the retention, and that a field keeps its type.'
    ],
    SLUICE_SINK_CLICKHOUSE: [
      'ClickHouse refused what the sink did, or an earlier insert whose outcome is not known is still running.',
      'The message has the reason of the server; let the insert end, or end it by `KILL QUERY`.'
    ],
    SLUICE_SINK_CASSANDRA: [
      'Cassandra refused what the sink did, or too few replicas answered in time.',
      'The message has the reason of the server: often a missing permission, or a node that is away. It is tried again.'
    ],
    SLUICE_SINK_HBASE: [
      'HBase refused what the sink did, or its REST server did not reach it.',
      'The message has the reason of the server: often a region server that is away, or a missing permission. It is tried again.'
    ],
    SLUICE_SINK_QUESTDB: [
      'QuestDB refused what the sink did, or a table of it is suspended.',
      'The message has the reason of the server: often a missing right, or a full disk. It is tried again.'
    ],
    SLUICE_SINK_VOLTDB: [
      'VoltDB refused what the sink did.',
      'The message has the reason of the server: often a missing right, or that its memory is full. It is tried again.'
    ],
    SLUICE_SINK_WARP10: [
      'Warp 10 refused what the sink did, or did not keep what it acknowledged.',
      'The message has the reason of the server: often a limit on how old or how many points may be. It is tried again.'
    ],
    SLUICE_SINK_HANA: [
      'SAP HANA refused what the sink did.',
      'The message has the reason of the server: often a missing right, or a full disk. It is tried again.'
    ],
    SLUICE_SINK_KAFKA: [
      'Kafka refused what the sink did, or too few replicas answered in time.',
      'The message has the reason of the broker: often a missing permission, or a broker that is away. It is tried again.'
    ],
    SLUICE_SINK_KAFKA_ROW: [
      'A row alone is larger than what its topic accepts at a time.',
      'Raise `max.message.bytes` of the topic and deploy, or store fewer fields or shorter texts in a row. The row is a dead letter.'
    ],
    SLUICE_KAFKA_NODE: [
      'The client of Kafka does not run with this version of Node.',
      'Install Node 24.6 or newer, or 22.22 or newer of Node 22. Everything else of Sluice runs with older ones.'
    ],
    SLUICE_SINK_FILE: [
      'The *file* sink cannot write to its folder.',
      'Check that the folder exists, is writable, and that the disk has room. It is tried again.'
    ],
    SLUICE_SINK_FILE_LOCKED: [
      'Another process writes in the same folder.',
      'Stop it, or give this sink a folder of its own.'
    ],
    SLUICE_SINK_FILE_DAMAGED: [
      'A file is not what the sink wrote.',
      'Check the disk, and that no other program changes the files; the sink continues in a new one.'
    ],
    SLUICE_SINK_FILE_CLOSED: [
      'The folder of a *file* sink was used while it was being closed.',
      'Nothing at a deploy or stop: staged batches come again.'
    ],
    SLUICE_SINK_UNKNOWN: [
      'A command names a sink that no spool waits for, or that has no dead letters.',
      '`sluice sinks list` shows the names; check `--user-dir`.'
    ],
    SLUICE_WRITER_FULL: [
      'More waits in memory than the sink may hold while its database does not store it.',
      'Staged batches wait; without staging, send later, or raise the memory limit of the sink.'
    ],
    SLUICE_WRITER_RELEASED: [
      'The sink was closed before the database had stored a batch.',
      'Staged batches come again. A batch without staging has to be sent again, and is then stored at least once.'
    ]
  },

  Dashboards: {
    SLUICE_GRAFANA_DATABASE: [
      '`sluice grafana` was asked for a dashboard of a sink that Grafana cannot read, or of a layout that it makes none of.',
      'Make one of another sink behind the same *stage in*: PostgreSQL, MySQL, ClickHouse, InfluxDB or SQLite. MongoDB needs a plugin of ' +
      'Grafana Enterprise.'
    ]
  },

  'Copying history': {
    SLUICE_COPY_PLACE: [
      '`sluice copy` was given a sink or file that is not there, or that cannot be copied from or to; or `sluice grafana` a sink that is ' +
      'not there, or has stored nothing.',
      'The message says which can. Sinks are those of the flow in `--user-dir`, disabled ones too.'
    ],
    SLUICE_COPY_RANGE: [
      'It is not known until when to copy, as the target has stored nothing itself; or a part of that time has been copied already.',
      'Let the gateway store in the target first. Without `--since` and `--until` a copy goes on with what was begun.'
    ],
    SLUICE_COPY_BEHIND: [
      'The target\'s own batches have gaps: some are on their way, and with them rows that would come twice.',
      'Wait until the balance of the sink has nothing in flight, then repeat the command.'
    ],
    SLUICE_COPY_COLUMN: [
      'A column is of a type that Sluice\'s sinks do not make, or a sensor\'s values change their type.',
      'Leave the column out with `--without`, or copy before and after that change.'
    ],
    SLUICE_COPY_DENSE: [
      'More rows than fit into one transaction have nearly the same time.',
      'If they are of a clock that was not set, copy what came before and after by itself, with `--since` and `--until`.'
    ],
    SLUICE_COPY_BUSY: [
      'Another `sluice copy` runs with this user folder: two at once could store the same rows.',
      'Wait until it has ended. On another machine or in another user folder one is not noticed: begin none there.'
    ]
  },

  'Dead letters': {
    SLUICE_DEAD_LETTERS_FULL: [
      'The dead letter queue of a sink has reached its limit; the sink stores nothing until there is room.',
      'Remove the cause (`sluice dead-letters list` shows it), and replay them.'
    ],
    SLUICE_DEAD_LETTERS_SHARE: [
      'The dead letters of one source have reached a quarter of the limit. Its staged batches wait in the spool; others go on.',
      'Remove the cause (`sluice dead-letters list` shows it), and replay them. Without staging, send the message again then.'
    ],
    SLUICE_DEAD_LETTER_TRUNCATED: [
      'A refused value was too long to be kept whole; what is left of it shows what it was, and cannot be replayed.',
      'Have it sent again, once its sender is corrected.'
    ],
    SLUICE_DEAD_LETTER_DAMAGED: [
      'A line of the file of a dead letter queue, or of another file of lines, is not what was written.',
      'Check the disk.'
    ],
    SLUICE_DEAD_LETTER_UNKNOWN: [
      'There is no dead letter of that key; it may have been replayed.',
      '`sluice dead-letters list` shows those that are left.'
    ],
    SLUICE_DEAD_LETTER_SINK: [
      'No open sink has that name.',
      'Use one of the names in the message.'
    ],
    SLUICE_DEAD_LETTER_COMMAND: [
      'The *dead letters* node got a topic that is not a command.',
      'Send the topic `list`, `show` or `replay`.'
    ],
    SLUICE_REPLAY_RUNNING: [
      'The dead letters of this sink are being replayed already.',
      'Wait until that ends.'
    ],
    SLUICE_REPLAY_STAGED: [
      'Replayed rows came to a *stage out*: from there they would go to every sink, and twice after a crash.',
      'Wire the second output of the *dead letters* node to the sink, or to nothing: then they go to the sink that they are from.'
    ],
    SLUICE_REPLAY_NO_GATEWAY: [
      'No running gateway has taken the request to replay; nothing was done.',
      'Start the gateway, with a *dead letters* node, and check `--user-dir`.'
    ],
    SLUICE_REPLAY_UNANSWERED: [
      'The gateway has taken the request to replay, and has not answered in time. It may still be at work.',
      '`sluice dead-letters list` shows what is left.'
    ],
    SLUICE_REPLAY_FAILED: [
      'The gateway could not replay dead letters; the message has its reason. What was not replayed is kept.',
      'Remove the cause, and replay again.'
    ],
    SLUICE_HANDOVER_CLOSED: [
      'The flow was deployed or stopped before replayed rows had reached the next node. They are kept.',
      'Replay again.'
    ]
  },

  Queries: {
    SLUICE_QUERY_NAME: [
      'There is no query of that name.',
      'Use one of the names in the message.'
    ],
    SLUICE_QUERY_MESSAGE: [
      '`msg.query` is not an object, or has properties that the query does not know.',
      'Send an object such as `{name: "raw", sensors: ["temperature"]}`, or leave it out.'
    ],
    SLUICE_QUERY_PARAMETERS: [
      'A parameter of the query is missing or wrong, or its range ends before it starts.',
      'Correct it in the form or in `msg.query`.'
    ],
    SLUICE_QUERY_TABLE: [
      'The table does not exist, or lacks a column or the type of time that the query needs.',
      'Check table, schema and columns in the form; a sink creates its table with its first batch.'
    ],
    SLUICE_QUERY_TOO_LARGE: [
      'The query would compute more intervals than fit into memory.',
      'Make the intervals longer, the range shorter, or the sensors fewer.'
    ],
    SLUICE_QUERY_FULL: [
      'Too many queries wait in the node.',
      'Ask less often, or for less at a time.'
    ],
    SLUICE_QUERY_RESTART: [
      'The command that is to restart the database server before a query with cold caches has failed, or the server does not come back.',
      'Run the command by hand as the user of the gateway; act on the reason in the message.'
    ],
    SLUICE_QUERY_CLOSED: [
      'The query was ended because its node was closed or deployed again.',
      'Send it again.'
    ],
    SLUICE_QUERY_EXPORT: [
      'The Parquet files cannot be written: no right to the folder, a full disk, or a file in the folder\'s place.',
      'Act on the reason in the message, then send the query again; days already written are complete.'
    ],
    SLUICE_QUERY_POSTGRESQL: [
      'PostgreSQL refused the query.',
      'The message has the reason of the server: often a missing right to read the table.'
    ],
    SLUICE_QUERY_MYSQL: [
      'MariaDB or MySQL refused the query.',
      'The message has the reason of the server: often a missing right to read the table.'
    ],
    SLUICE_QUERY_SQLITE: [
      'The SQLite file does not exist or cannot be read.',
      'Check its path and permissions; a sink creates it with its first batch.'
    ],
    SLUICE_QUERY_DUCKDB: [
      'The DuckDB file does not exist, cannot be read, or another process has it open.',
      'Check its path; end the other process. A sink creates the file with its first batch.'
    ],
    SLUICE_QUERY_MONGODB: [
      'MongoDB refused the query.',
      'The message has the reason of the server: often a missing right to read the collection.'
    ],
    SLUICE_QUERY_CLICKHOUSE: [
      'ClickHouse refused the query.',
      'The message has the reason of the server: often a missing right to read the table.'
    ],
    SLUICE_QUERY_CASSANDRA: [
      'Cassandra refused the query, or too few replicas answered in time.',
      'The message has the reason of the server: often a missing permission to select, or a node that is away.'
    ],
    SLUICE_QUERY_HBASE: [
      'HBase refused the query, or its REST server did not reach it.',
      'The message has the reason of the server: often a region server that is away, or a missing permission to read the table.'
    ],
    SLUICE_QUERY_QUESTDB: [
      'QuestDB refused the query.',
      'The message has the reason of the server: often a missing right to read the table.'
    ],
    SLUICE_QUERY_VOLTDB: [
      'VoltDB refused the query.',
      'The message has the reason of the server: often a missing right to run SQL, or a query that takes longer than it allows.'
    ],
    SLUICE_QUERY_HANA: [
      'SAP HANA refused the query.',
      'The message has the reason of the server: often a missing right to read the table.'
    ],
    SLUICE_QUERY_WARP10: [
      'Warp 10 refused to read.',
      'The message has the reason of the server: often a token that has expired.'
    ]
  },

  'History of the gateway': {
    SLUICE_HISTORY_QUERY: [
      'What was asked of the gateway\'s history is no series, or no time, or more than it answers at once.',
      'The message says which; `sluice/history/series` lists all series, and [History](deploy.md#history) has the parameters.'
    ],
    SLUICE_HISTORY_PAUSED: [
      'The gateway\'s history (rates, latencies, queues) cannot be written to the data folder, as on a full disk or a read-only one. ' +
      'Samples are not concerned.',
      'Make room, or give the folder to the user that the gateway runs as; it goes on by itself.'
    ],
    SLUICE_HISTORY_DAMAGED: [
      'A file of the gateway\'s history is not what was written, as after a fault of the disk. What is whole in it was taken; the file ' +
      'is kept as `….damaged`.',
      'Nothing. If it happens again, look after the disk: `sluice doctor`.'
    ]
  },
  'Monitor of resources': {
    SLUICE_MONITOR_ACCESS: [
      'A monitor has no token, or one that could be guessed; or it was asked without the right one.',
      'Make a token (`openssl rand -hex 32`), and give the same one to `sluice monitor` and to the bench that reads it.'
    ],
    SLUICE_MONITOR_PORT: [
      'The monitor cannot listen on its port: another program uses it, it needs other rights, or the address is not one of this machine.',
      'Stop the other program, or choose another place with `--host` and `--port`.'
    ],
    SLUICE_MONITOR_REMOTE: [
      'The monitor of another machine cannot be read.',
      'The message says why. Check that `sluice monitor` runs there, its address and its token, and that no firewall is in between.'
    ]
  },

  Bench: {
    SLUICE_BENCH_UNKNOWN: [
      '`--only` or `--databases` names a database that the bench does not know.',
      'Use the names in the message.'
    ],
    SLUICE_BENCH_NOT_EMPTY: [
      'A database that was named for the bench is not empty. The bench drops what it finds, so it refuses to begin.',
      'Name an empty database of its own.'
    ],
    SLUICE_BENCH_LIMIT: [
      'The gateway\'s part of a study cannot be held back: there may be no control group and no `taskset`.',
      'Run the bench as root, on Linux, or in a container that has these limits; or without `--limit`.'
    ],
    SLUICE_BENCH_COUNT: [
      'The database holds another number of rows than were written.',
      'See that nothing else writes to the database of the bench; otherwise report it.'
    ],
    SLUICE_BENCH_READ: [
      'A reader of a study got something else from a database than what was written.',
      'See that nothing else writes to the database of the bench; otherwise report it.'
    ],
    SLUICE_BENCH_STALLED: [
      'Rows stopped arriving during a measurement.',
      'Look at the output of the gateway in the message.'
    ],
    SLUICE_BENCH_OUTAGE: [
      'The measurement of an outage failed.',
      'Look at the output of the gateway in the message.'
    ],
    SLUICE_BENCH_SCALE: [
      'The measurement of a plant of gateways failed.',
      'Look at the output of the processes in the message.'
    ],
    SLUICE_BENCH_CLIENT: [
      'A client of a study ended before it had measured, or could not open its database.',
      'See the cause in the message.'
    ],
    SLUICE_BENCH_RESUME: [
      'The folder of a run that is to go on is not there, is damaged, or has measurements of another study or of other options.',
      'Give the options that it was begun with, or another folder.'
    ],
    SLUICE_BENCH_CONFIG: [
      'A configuration of SciTS is not the XML that SciTS reads, or has a setting that the study cannot follow.',
      'The message names the line or the setting, and what it may be.'
    ],
    SLUICE_BENCH_COMPARE: [
      'Two reports of the bench are not of the same study, so no figure of one has a counterpart in the other.',
      'Compare reports of one study.'
    ],
    SLUICE_BENCH_REPORT: [
      'A folder or message has no result of a study, or one of a study that this version does not know.',
      'Name the folder of a run; what was killed before it had a result goes on with `--resume`.'
    ],
    SLUICE_BENCH_BUSY: [
      'A *bench run* was started while this gateway measures a study already.',
      'Wait for its end, or stop it: two at the same time would measure each other.'
    ],
    SLUICE_BENCH_SERVER: [
      'A server that *bench run* names cannot be measured: it is not set up, or reached by TLS, a Unix socket or as a cluster.',
      'Name one server by address and port, without TLS, with an empty database.'
    ],
    SLUICE_BENCH_PROGRAM: [
      '`sluice bench`, which *bench run* and *bench report* start, has failed.',
      'See its own words in the message.'
    ],
    SLUICE_BENCH_PROCESS: [
      'A program that the bench started did not become ready, or a process that it measures is not there.',
      'Look at its output in the message; a server that is measured has to be on this machine.'
    ]
  }
}
