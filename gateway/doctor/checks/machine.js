import { readHost } from '../../stats/host/host.js'
import { alarmsOf } from '../../stats/host/alarms.js'
import { measure } from '../../stats/format.js'
import { note, ok } from '../finding.js'

/** Temperature, power and card. @type {import('../finding.js').Check} */
export const machine = {
  name: 'machine',
  title: 'Machine',
  async find ({ files, userDir }) {
    const { temperatureCelsius, throttling, cards, written } = await readHost(userDir, files)
    const alarms = alarmsOf({ temperatureCelsius, throttling, cards }).map(({ level, what, fix }) => ({ level, what, where: '', fix }))
    return [
      ...alarms,
      ...temperatureCelsius !== undefined ? [ok(`The processor has ${temperatureCelsius.toFixed(0)} °C.`)] : [],
      ...throttling?.sinceStart.length === 0 ? [ok('Nothing has lowered the voltage or the speed since the start.')] : [],
      ...cards.map(({ name, wornPercent }) => ok(`The card has used up to ${wornPercent} % of its life.`, name)),
      ...written ? [note(`${measure(written.bytesPerDay, 'B')} a day are written to it: the mean since the start.`, written.disk)] : []
    ]
  }
}
