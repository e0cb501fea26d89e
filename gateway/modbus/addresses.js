export { ADDRESSES, parseAddress } from '../../resources/modbus-addresses.js'

/** @type {import('./wire/pdu.js').Area[]} */
export const AREAS = ['holding-registers', 'input-registers', 'coils', 'discrete-inputs']

/** @type {import('../../resources/options.js').Property} */
export const addressingProperty = {
  type: 'string',
  title: 'Addresses',
  description: 'As on the wire: 0 to 65535 in each area. As in many data sheets: five or six digits, the first for the area (0 coils, ' +
    '1 discrete inputs, 3 input registers, 4 holding registers), the others counting from 1: 40001 and 400001 are both holding ' +
    'register 0 on the wire.',
  enum: ['protocol', 'data-sheet'],
  'x-labels': { protocol: 'As on the wire: from 0', 'data-sheet': 'As in data sheets: 40001, 300001' },
  default: 'protocol'
}
