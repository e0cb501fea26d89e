export { Mapper } from './mapper.js'
export { presets } from './presets.js'
export { tryMappings } from './try.js'
