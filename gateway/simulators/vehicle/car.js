import { derive, fractionAt } from '../../base/random.js'

/**
 * A small car that is driven about: it speeds up through its gears, holds a speed, takes curves, brakes and stops. The same seed gives the
 * same drive. The channels are the 22 of "Ingesting 300k datapoints per second in the Warp 10 time series database on a Raspberry Pi"
 * (SenX), and fit together as there: at 101.8 km/h in third gear the wheels turn at 830 and the engine at 4796 a minute, 78 Nm are 53 hp,
 * and a yaw rate of 11.9 °/s is 0.6 g.
 *
 * @typedef {{seconds: number, message: string, values: Record<string, number>}} CarEvent
 */

const STEP_SECONDS = 0.01

const MASS_KG = 1250
const WHEEL_RADIUS_M = 0.325
const TRACK_M = 1.5
const FINAL_RATIO = 4.27
const GEAR_RATIOS = [0, 3.55, 1.95, 1.35, 1.03, 0.84]
const TOP_GEAR = GEAR_RATIOS.length - 1
const EFFICIENCY = 0.95
const DRAG_N_PER_M2_S2 = 0.38
const ROLLING_N = 150
const GRAVITY = 9.81
const IDLE_RPM = 800
const MAX_RPM = 6000
const MAX_TORQUE_NM = 190
const ENGINE_BRAKE_NM = -25
const NEWTON_PER_BAR = 220
const SHIFT_SECONDS = 0.3
const SECONDS_BETWEEN_SHIFTS = 1.2
const RPM_NM_PER_HORSEPOWER = 7127
const MAX_LATERAL_G = 0.5
const PER_MINUTE = 60 / (2 * Math.PI)
const DEGREES = 180 / Math.PI

export class Car {
  /** What has happened since this was emptied. @type {CarEvent[]} */
  events = []
  #seed
  #steps = 0
  #phase = -1
  #phaseEnd = 0
  #goal = 0
  #bend = 0
  #bendEnd = 0
  #bendGoal = 0
  #bends = 0
  #speed = 0
  #demand = 0
  #acceleration = 0
  #gear = 0
  #shiftEnd = 0
  #shifts = 0
  #throttle = 0
  #torque = 0
  #brake = 0
  #rpm = IDLE_RPM
  #boost = 0.3
  #metres = 0
  #oil = 20
  #coolant = 20
  #cabin = 17
  #doorOpen = false

  /** @param {number} seed */
  constructor (seed) {
    this.#seed = seed
  }

  /** How long it has been on the way. */
  get seconds () { return this.#steps * STEP_SECONDS }

  /** Drives on until a time since the start. @param {number} seconds */
  driveTo (seconds) {
    while ((this.#steps + 1) * STEP_SECONDS <= seconds + 1e-9) this.#step()
  }

  /** The channels now, by name. @returns {Record<string, number>} */
  channels () {
    const yaw = this.#speed * this.#bend
    const wheel = (/** @type {number} */ side, /** @type {number} */ slip) => {
      return this.#speed * (1 + side * this.#bend * TRACK_M / 2) * slip / WHEEL_RADIUS_M * PER_MINUTE
    }
    const external = 15 + Math.sin(this.seconds / 900)
    return {
      yawrate: yaw * DEGREES + this.#noise(1, 0.1),
      gammalongitudinal: this.#acceleration / GRAVITY + this.#noise(2, 0.005),
      gammatransversal: -this.#speed * yaw / GRAVITY + this.#noise(3, 0.01),
      wheelspeedfrontleft: wheel(-1, 1.002),
      wheelspeedfrontright: wheel(1, 1.002),
      wheelspeedrearleft: wheel(-1, 0.998),
      wheelspeedrearright: wheel(1, 0.998),
      enginerpm: this.#rpm,
      torque: this.#torque,
      throttlepedal: 100 * this.#throttle,
      boostpressure: this.#boost,
      brakepressure: this.#brake,
      wheeltorque: this.#torque * this.#ratio * EFFICIENCY / 2,
      speed: this.#speed * 3.6,
      gear: this.#gear,
      power: this.#torque * this.#rpm / RPM_NM_PER_HORSEPOWER,
      engineoiltemp: this.#oil,
      coolanttemp: this.#coolant,
      intakeairtemp: external + 8 + 15 * this.#throttle,
      externaltemp: external,
      cabintemp: this.#cabin,
      tripdistance: this.#metres / 1000
    }
  }

  get #ratio () { return GEAR_RATIOS[this.#gear] * FINAL_RATIO }

  #step () {
    this.#steps++
    const { seconds } = this
    this.#plan(seconds)
    this.#drive(seconds)
    this.#shift(seconds)
    this.#warmUp()
  }

  /** Where the driver wants to go: first the door, then speeds and stops, bend after bend. @param {number} seconds */
  #plan (seconds) {
    if (seconds >= this.#phaseEnd) {
      const phase = ++this.#phase
      const chance = this.#chance(1, phase)
      const isStop = phase === 0 || (phase > 2 && chance < 0.25)
      this.#goal = isStop ? 0 : (30 + 90 * this.#chance(2, phase)) / 3.6
      this.#phaseEnd = seconds + (phase === 0 ? 3 : isStop ? 20 : 10 + 25 * this.#chance(3, phase))
    }
    const isDoorTime = this.#goal === 0 && seconds > this.#phaseEnd - 4 && seconds < this.#phaseEnd - 1
    const open = this.#speed === 0 && (this.#phase === 0 ? seconds < 2 : isDoorTime)
    if (open !== this.#doorOpen) {
      this.#doorOpen = open
      this.#tell('Door', { door: Number(open) })
    }
    if (seconds >= this.#bendEnd) {
      const number = this.#bends++
      this.#bendEnd = seconds + 3 + 6 * this.#chance(4, number)
      this.#bendGoal = this.#chance(5, number) < 0.4 ? 0 : 0.03 * (2 * this.#chance(6, number) - 1)
    }
    const tightest = MAX_LATERAL_G * GRAVITY / Math.max(this.#speed ** 2, 25)
    this.#bend += (clamp(this.#bendGoal, -tightest, tightest) - this.#bend) * STEP_SECONDS * 2
  }

  /** @param {number} seconds */
  #drive (seconds) {
    const wanted = clamp(0.6 * (this.#goal - this.#speed), -3, 2.5)
    this.#demand += clamp(wanted - this.#demand, -5 * STEP_SECONDS, 3 * STEP_SECONDS)
    const resistance = this.#speed > 0 || this.#demand > 0 ? ROLLING_N + DRAG_N_PER_M2_S2 * this.#speed ** 2 : 0
    const force = MASS_KG * this.#demand + resistance
    const isCoupled = this.#gear > 0 && seconds >= this.#shiftEnd
    const maxTorque = MAX_TORQUE_NM * (1 - ((this.#rpm - 3200) / 6000) ** 2)
    const perNewton = isCoupled ? WHEEL_RADIUS_M / (this.#ratio * EFFICIENCY) : 0
    const torque = isCoupled ? clamp(force * perNewton, this.#rpm > 1000 ? ENGINE_BRAKE_NM : 0, maxTorque) : 0
    this.#torque += (torque - this.#torque) * 0.2
    this.#throttle += (Math.max(0, torque) / maxTorque - this.#throttle) * 0.15

    const traction = isCoupled ? this.#torque / perNewton : 0
    const missing = Math.max(0, traction - force) / NEWTON_PER_BAR
    const isStanding = this.#goal === 0 && this.#speed < 0.2
    const brake = isStanding ? 15 : missing > 1 ? missing : 0
    this.#press(brake < 0.1 ? 0 : brake)

    const before = this.#speed
    const change = (traction - resistance - this.#brake * NEWTON_PER_BAR) / MASS_KG * STEP_SECONDS
    this.#speed = isStanding ? 0 : Math.max(0, this.#speed + change)
    this.#acceleration += ((this.#speed - before) / STEP_SECONDS - this.#acceleration) * 0.3
    this.#metres += this.#speed * STEP_SECONDS

    const geared = isCoupled ? this.#speed / WHEEL_RADIUS_M * PER_MINUTE * this.#ratio : IDLE_RPM
    this.#rpm += (clamp(geared, IDLE_RPM, MAX_RPM) - this.#rpm) * (isCoupled ? 0.5 : 0.02)
    this.#boost += (0.3 + 1.2 * this.#throttle * Math.min(1, this.#rpm / 2500) - this.#boost) * STEP_SECONDS * 2
  }

  /** @param {number} bar */
  #press (bar) {
    if (bar > 0 !== this.#brake > 0) this.#tell('BrakePedal', { brakepedal: Number(bar > 0) })
    this.#brake = Math.min(bar, 120)
  }

  /** @param {number} seconds */
  #shift (seconds) {
    if (seconds < this.#shiftEnd + SECONDS_BETWEEN_SHIFTS - SHIFT_SECONDS && this.#gear > 0) return
    const gear = this.#gear
    const next = this.#speed === 0
      ? (this.#goal > 0 ? 1 : 0)
      : this.#rpm > 2300 + 2500 * this.#throttle && gear < TOP_GEAR
        ? gear + 1
        : this.#rpm < 1250 + 900 * this.#throttle && gear > 1 ? gear - 1 : gear
    if (next === gear) return
    this.#gear = next
    this.#shiftEnd = seconds + SHIFT_SECONDS
    this.#shifts++
    this.#tell('GearChange', { gearfrom: gear, gearto: next, gearchanges: this.#shifts % 256 })
  }

  #warmUp () {
    const load = this.#throttle * 4
    this.#oil += (90 + load - this.#oil) * STEP_SECONDS / 300
    this.#coolant += (86 + load - this.#coolant) * STEP_SECONDS / 150
    this.#cabin += (22 - this.#cabin) * STEP_SECONDS / 400
  }

  /** @param {string} message @param {Record<string, number>} values */
  #tell (message, values) {
    this.events.push({ seconds: this.seconds, message, values })
  }

  /** 0 to 1: of one kind of decision, its number. @param {number} kind @param {number} number */
  #chance (kind, number) {
    return fractionAt(derive(this.#seed, kind), number)
  }

  /** @param {number} kind @param {number} largest */
  #noise (kind, largest) {
    return largest * (2 * this.#chance(16 + kind, this.#steps) - 1)
  }
}

/** @param {number} value @param {number} low @param {number} high */
function clamp (value, low, high) {
  return Math.min(Math.max(value, low), high)
}
