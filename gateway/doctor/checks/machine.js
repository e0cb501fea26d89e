import { readHost } from '../../stats/host/host.js'
import { alarmsOf } from '../../stats/host/alarms.js'
import { measure } from '../../stats/format.js'
import { note, ofAlarm, ok } from '../finding.js'
import { said } from '../../stats/phrases.js'

/** Temperature, power and card. @type {import('../finding.js').Check} */
export const machine = {
  name: 'machine',
  title: 'Machine',
  async find ({ files, userDir }) {
    const { temperatureCelsius, throttling, cards, written } = await readHost(userDir, files)
    return [
      ...alarmsOf({ temperatureCelsius, throttling, cards }).map(alarm => ofAlarm(alarm)),
      ...temperatureCelsius !== undefined ? [ok(said`The processor has ${temperatureCelsius.toFixed(0)} °C.`)] : [],
      ...throttling?.sinceStart.length === 0 ? [ok(said`Nothing has lowered the voltage or the speed since the start.`)] : [],
      ...cards.map(({ name, wornPercent }) => ok(said`The card has used up to ${wornPercent} % of its life.`, name)),
      ...written ? [note(said`${measure(written.bytesPerDay, 'B')} a day are written to it: the mean since the start.`, written.disk)] : []
    ]
  }
}
