/// What the daemon notes of itself, for whoever asks.
struct Meters: Sendable {
  let log: LogRing
  let ended: EndedJobs
  let mainQueue: MainQueueMeter
  let jobs: JobMeter
  let mainContexts: MainContexts
  let health: HealthProbe
}
