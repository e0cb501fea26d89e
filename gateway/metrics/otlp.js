import { describe, SluiceError } from '../base/errors.js'
import { version } from '../base/version.js'
import { BOUNDS_SECONDS } from './kinds.js'

/**
 * Sends the metrics to a collector of OpenTelemetry, over HTTP as protobuf, where the environment names one. Its packages are large, so
 * that who wants this installs them; they are loaded only then.
 *
 * @typedef {import('./families.js').Family} Family
 * @typedef {Awaited<ReturnType<typeof loadPackages>>} Packages
 */

const PACKAGES = ['api', 'sdk-metrics', 'resources', 'exporter-metrics-otlp-proto'].map(name => `@opentelemetry/${name}`)
const INTERVAL_MS = 60_000
/** For what is sent last. */
const PATIENCE_MS = 2000
/** As UCUM writes them; what is counted is no unit. @type {Record<string, string>} */
const UNITS = { seconds: 's', bytes: 'By', celsius: 'Cel', '': '' }

/**
 * @param {object} options
 * @param {() => Promise<Family[]>} options.families
 * @param {string} options.gatewayId
 * @param {(line: string) => void} options.log
 * @param {() => Promise<Packages>} [options.load]
 * @returns {Promise<() => Promise<void>>} sends what there is, and ends
 * @throws {SluiceError} SLUICE_OTLP_MISSING
 */
export async function startOtlp ({ families, gatewayId, log, load = loadPackages }) {
  const packages = await load().catch(cause => {
    throw new SluiceError('SLUICE_OTLP_MISSING', 'Metrics are to be sent by OpenTelemetry, whose packages are not installed.', {
      fix: `npm install ${PACKAGES.join(' ')}, or have a collector scrape /sluice/metrics.`,
      cause
    })
  })
  const { api, sdk, resources, exporter } = packages
  let said = ''
  const say = (/** @type {unknown[]} */ ...parts) => {
    const text = parts.map(describe).join(' ')
    if (text !== said) log(describe(new SluiceError('SLUICE_OTLP', said = text)))
  }
  const silence = () => {}
  api.diag.setLogger({ error: say, warn: say, info: silence, debug: silence, verbose: silence }, api.DiagLogLevel.WARN)
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources
  const own = resourceFromAttributes({ 'service.name': 'sluice', 'service.version': version, 'service.instance.id': gatewayId })
  const resource = defaultResource().merge(own).merge(detectResources({ detectors: [envDetector] }))
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: new exporter.OTLPMetricExporter(),
    exportIntervalMillis: Number(process.env.OTEL_METRIC_EXPORT_INTERVAL) || INTERVAL_MS
  })
  reader.setMetricProducer({
    collect: async () => {
      const metrics = metricsOf(await families(), packages)
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'sluice', version }, metrics }] }, errors: [] }
    }
  })
  return async () => {
    await reader.shutdown({ timeoutMillis: PATIENCE_MS }).catch(say)
    api.diag.disable()
  }
}

/** Whether the environment asks for it. */
export function isOtlpWanted ({ OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: metrics } = process.env) {
  return Boolean(all || metrics)
}

async function loadPackages () {
  const [api, sdk, resources, exporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-metrics-otlp-proto')
  ])
  return { api, sdk, resources, exporter }
}

/** @param {Family[]} families @param {Packages} packages @returns {import('@opentelemetry/sdk-metrics').MetricData[]} */
function metricsOf (families, { api, sdk }) {
  const { AggregationTemporality: { CUMULATIVE: aggregationTemporality }, DataPointType } = sdk
  const startTime = hrTimeOf(performance.timeOrigin)
  const endTime = hrTimeOf(performance.timeOrigin + performance.now())
  return families.map(({ name, type, unit, help, samples }) => {
    const descriptor = { name, description: help, unit: UNITS[unit] ?? `{${unit}}`, valueType: api.ValueType.DOUBLE }
    /** @template Value @param {(value: any) => Value} valueOf */
    const pointsOf = valueOf => samples.map(({ labels, value }) => ({ startTime, endTime, attributes: labels, value: valueOf(value) }))
    if (type === 'histogram') {
      return { descriptor, aggregationTemporality, dataPointType: DataPointType.HISTOGRAM, dataPoints: pointsOf(histogramOf) }
    }
    const dataPoints = pointsOf(Number)
    if (type === 'gauge') return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints }
    return { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
  })
}

/** Each bucket has its own here, and not what is below as well. @param {import('./kinds.js').Distribution} distribution */
function histogramOf ({ counts, sum, total }) {
  const own = [...counts, total].map((count, i) => count - (counts[i - 1] ?? 0))
  return { buckets: { boundaries: BOUNDS_SECONDS, counts: own }, sum: sum / 1e6, count: total }
}

/** @param {number} ms  since 1970 @returns {[seconds: number, nanoseconds: number]} */
function hrTimeOf (ms) {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}
