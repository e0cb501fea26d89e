/**
 * Which parameter groups are of J1939 and of NMEA 2000, and which the latter sends as fast packets. Nothing in a frame tells: these are the
 * standard ones, as the CANboat project lists them, and the ranges for manufacturers, where J1939 has single frames.
 */

/** Manufacturers of either may use these, with whatever data. */
const ADDRESSED_GROUP_OF_MANUFACTURERS = 0xEF00
const FIRST_GROUP_OF_MANUFACTURERS = 0xFF00
/** Lower groups are of J1939 and never come as fast packets, however long. */
export const FIRST_FAST_GROUP = 0x1ED00
/** Above them are groups of single frames and of fast packets, up to those of manufacturers: J1939 has none there. */
const FIRST_MIXED_GROUP = 0x1F000
const FIRST_FAST_GROUP_OF_MANUFACTURERS = 0x1FF00

/** First and last, among the mixed ones. */
const STANDARD = [
  [126983, 126988], [126996, 126996], [126998, 126998], [127233, 127233], [127237, 127237], [127489, 127491], [127494, 127498],
  [127503, 127504], [127506, 127507], [127509, 127514], [128275, 128275], [128520, 128520], [128538, 128538], [129029, 129029],
  [129038, 129041], [129044, 129045], [129284, 129285], [129301, 129302], [129538, 129538], [129540, 129542], [129545, 129545],
  [129547, 129547], [129549, 129549], [129551, 129551], [129556, 129556], [129792, 129816], [130052, 130054], [130060, 130061],
  [130064, 130074], [130320, 130324], [130329, 130330], [130561, 130575], [130577, 130578], [130580, 130581], [130583, 130584],
  [130586, 130586]
]

/** Whether a group of NMEA 2000 comes as fast packets. @param {number} pgn */
export function isFastGroup (pgn) {
  if (pgn < FIRST_FAST_GROUP) return false
  if (pgn < FIRST_MIXED_GROUP || pgn >= FIRST_FAST_GROUP_OF_MANUFACTURERS) return true
  return STANDARD.some(([first, last]) => first <= pgn && pgn <= last)
}

/** Whether a group is of J1939 on a boat, too. @param {number} pgn */
export function isOnlyJ1939 (pgn) {
  return pgn < FIRST_GROUP_OF_MANUFACTURERS && pgn !== ADDRESSED_GROUP_OF_MANUFACTURERS
}

/** Whether a group can be only of NMEA 2000. @param {number} pgn */
export function isOnlyNmea (pgn) {
  return pgn >= FIRST_MIXED_GROUP && pgn < FIRST_FAST_GROUP_OF_MANUFACTURERS
}
